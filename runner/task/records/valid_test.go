package records

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// What is read must be what encoding/json takes: other programs read the plan, too.
func TestValid_anyText_isThatOfEncodingJSON(t *testing.T) {
	const plan = `{"userStories": [{"id": "US-1", "title": "a \"b\" \u00e9 \\ /", "priority": -1.50e+3, "passes": false, "notes": null, "x": [[], {}, 0, true]}]}`
	random := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		data := []byte(plan)
		for range 1 + random.IntN(3) {
			const bytes = "{}[]\",:\\ \n\t\x00\x1f\xff0123456789.-+eEutfnal"
			i := random.IntN(len(data))
			switch random.IntN(3) {
			case 0:
				data[i] = bytes[random.IntN(len(bytes))]
			case 1:
				data = append(data[:i], data[i+1:]...)
			default:
				data = append(data[:i+1], data[i:]...)
				data[i] = bytes[random.IntN(len(bytes))]
			}
		}
		if got := valid(data); got != json.Valid(data) {
			t.Fatalf("valid is %v for %q", got, data)
		}
	}
}

func TestValid_deepNesting_isRefused(t *testing.T) {
	if deep := strings.Repeat("[", 8<<20); valid([]byte(deep + strings.Repeat("]", len(deep)))) {
		t.Error("8 million levels are valid")
	}
}
