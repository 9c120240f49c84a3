package fleet

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"ralph/cmd/internal/cmdline"
)

// Here is a worker's answer to a roll call.
type Here struct {
	V       int    `json:"v"`
	ID      string `json:"id"` // of the process
	Host    string `json:"host"`
	Ralph   string `json:"ralph,omitempty"`
	Slots   int    `json:"slots"`
	Busy    int    `json:"busy"`
	Refused int    `json:"refused,omitempty"` // offers and messages
	// Discarded are the results that no run has taken, because it had given up on the worker or was gone.
	Discarded int `json:"discarded,omitempty"`
}

const (
	rollSubject = "ralph.roll"
	rollEvery   = 3 * time.Second
	rollLost    = 3 // rolls without an answer: the worker is gone
	maxHere     = 4096
)

// answerRolls lets runs know that this worker is here.
func (w *worker) answerRolls() error {
	id := rand.Text()
	_, err := w.conn.Subscribe(rollSubject, func(m *nats.Msg) {
		if len(m.Data) > 64 || strings.ContainsAny(string(m.Data), " .*>") {
			w.refuse("a roll that cannot be read")
			return
		}
		// Plain values: it cannot fail.
		data, _ := json.Marshal(Here{V: version, ID: id, Host: w.Host, Ralph: w.Ralph, Slots: w.Slots,
			Busy: int(w.busy.Load()), Refused: int(w.refused.Load()), Discarded: int(w.discarded.Load())})
		_ = w.conn.Publish("ralph.here."+string(m.Data), data)
	})
	return err
}

// Muster calls the roll at intervals until ctx ends. It calls each with the workers that are here, the first time and
// after each change. The slice is in the order of hosts.
func Muster(ctx context.Context, a Access, each func([]Here)) error {
	conn, _, err := a.connect("ralph workers", "")
	if err != nil {
		return err
	}
	defer conn.Close()
	var mu sync.Mutex
	answered := map[string]present{}
	id := rand.Text()
	sub, err := conn.Subscribe("ralph.here."+id, func(m *nats.Msg) {
		var h Here
		if len(m.Data) > maxHere || json.Unmarshal(m.Data, &h) != nil || h.ID == "" || h.V != version || h.Slots < 0 {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		answered[h.ID] = present{h, rollLost}
	})
	if err == nil {
		err = conn.Flush()
	}
	if err != nil {
		return fmt.Errorf("call the roll: %w", err)
	}
	defer sub.Unsubscribe()
	var last []Here
	pause := rollEvery / 6 // first: all answer at once
	for first := true; ; first = false {
		_ = conn.Publish(rollSubject, []byte(id)) // while there is no server, nobody answers
		if !cmdline.Pause(ctx, pause) {
			return nil
		}
		var all []Here
		mu.Lock()
		for id, p := range answered {
			if p.rolls == 0 {
				delete(answered, id)
				continue
			}
			all = append(all, p.Here)
			answered[id] = present{p.Here, p.rolls - 1}
		}
		mu.Unlock()
		slices.SortFunc(all, func(a, b Here) int { return strings.Compare(a.Host+" "+a.ID, b.Host+" "+b.ID) })
		if first || !slices.Equal(all, last) {
			each(all)
		}
		last, pause = all, rollEvery+time.Duration(len(all))*10*time.Millisecond
	}
}

// present is a worker that has answered a roll call.
type present struct {
	Here
	rolls int // that it may still miss
}
