package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
)

// Here is a worker's answer to a roll call.
type Here struct {
	V       int      `json:"v"`
	ID      string   `json:"id"` // of the process
	Host    string   `json:"host"`
	Ralph   string   `json:"ralph,omitempty"`
	Labels  []string `json:"labels,omitempty"`
	Slots   int      `json:"slots"`
	Busy    int      `json:"busy"`
	Refused int      `json:"refused,omitempty"` // offers and messages
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
	id := nuid.Next()
	_, err := w.conn.Subscribe(rollSubject, func(m *nats.Msg) {
		if len(m.Data) > 64 || strings.ContainsAny(string(m.Data), " .*>") {
			w.refuse("a roll that cannot be read")
			return
		}
		// Plain values: it cannot fail.
		data, _ := json.Marshal(Here{V: version, ID: id, Host: w.Host, Ralph: w.Ralph, Labels: w.Labels, Slots: w.Slots,
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
	r := &roll{here: map[string]*present{}}
	id := nuid.Next()
	sub, err := conn.Subscribe("ralph.here."+id, r.answer)
	if err == nil {
		err = conn.Flush()
	}
	if err != nil {
		return fmt.Errorf("call the roll: %w", err)
	}
	defer sub.Unsubscribe()
	pause := rollEvery / 6 // first: all answer at once
	for first := true; ; first = false {
		_ = conn.Publish(rollSubject, []byte(id)) // while there is no server, nobody answers
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		if all, changed := r.call(); changed || first {
			each(all)
		}
		pause = rollEvery + time.Duration(r.size())*10*time.Millisecond
	}
}

// roll is who has answered.
type roll struct {
	mu   sync.Mutex
	here map[string]*present
	last []Here // what each got last
}

type present struct {
	Here
	missed int // rolls
}

func (r *roll) answer(m *nats.Msg) {
	var h Here
	if len(m.Data) > maxHere || json.Unmarshal(m.Data, &h) != nil || h.ID == "" || h.V != version || h.Slots < 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.here[h.ID] = &present{Here: h}
}

func (r *roll) size() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.here)
}

// call is who is here after a roll.
func (r *roll) call() (all []Here, changed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.here, func(_ string, p *present) bool { p.missed++; return p.missed > rollLost })
	for _, p := range r.here {
		all = append(all, p.Here)
	}
	slices.SortFunc(all, func(a, b Here) int { return strings.Compare(a.Host+" "+a.ID, b.Host+" "+b.ID) })
	changed = !slices.EqualFunc(all, r.last, func(a, b Here) bool {
		return a.ID == b.ID && a.Busy == b.Busy && a.Refused == b.Refused && a.Discarded == b.Discarded
	})
	r.last = all
	return all, changed
}

// Having returns the workers that have the labels.
func Having(need Labels, all []Here) []Here {
	return slices.DeleteFunc(slices.Clone(all), func(h Here) bool { return !Labels(h.Labels).Serves(need.Line()) })
}
