// Package records reads plans that are JSON: prd.json, folders of PRD files, ralph's own task
// list, and Taskmaster.
package records

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"ralph/runner/task"
)

// reader collects the tasks of a JSON file.
type reader struct {
	task.Parsed
	file   int    // index of the file
	name   string // of the file, if the plan has several
	data   []byte
	words  task.Words     // of "status"
	passes bool           // a record without a state gets "passes", else "status"
	seen   map[string]int // the task with each id
	files  []task.File    // so far
	at     int            // offset up to which lines are counted
	lines  int            // line breaks before at
	// refused is the first value that decides about agents or judges and cannot be understood.
	refused error
}

// begin checks the JSON of a file.
func (r *reader) begin(i int, f task.File) (gjson.Result, error) {
	r.file, r.data, r.at, r.lines = i, f.Data, 0, 0
	r.files, r.Words = append(r.files, f), r.words.Write
	if valid(f.Data) {
		n := min(bytes.Count(f.Data, []byte(`"id"`)), len(f.Data)/8)
		r.Tasks, r.Spots = slices.Grow(r.Tasks, n), slices.Grow(r.Spots, n)
		if len(r.seen) == 0 {
			r.seen = make(map[string]int, n)
		}
		return gjson.ParseBytes(f.Data), nil
	}
	if line, col, err := task.InvalidJSON(f.Data); err != nil {
		return gjson.Result{}, fmt.Errorf("%sline %d, column %d: invalid JSON: %w", r.prefix(), line, col, err)
	}
	return gjson.ParseBytes(f.Data), nil
}

// prefix names the file, if the plan has several.
func (r *reader) prefix() string {
	if r.name == "" {
		return ""
	}
	return r.name + ": "
}

// line returns the 1-based line of offset, which must not decrease between calls.
func (r *reader) line(offset int) int {
	if offset > r.at {
		r.lines += bytes.Count(r.data[r.at:offset], []byte("\n"))
		r.at = offset
	}
	return r.lines + 1
}

// object is the members of a JSON object.
type object []member

// member is one key of an object with its value.
type member struct {
	key   string
	value gjson.Result
}

func members(o gjson.Result) object { return object(nil).of(o) }

// of returns the members of another object and reuses the memory of o.
func (o object) of(another gjson.Result) object {
	o = o[:0]
	another.ForEach(func(key, value gjson.Result) bool {
		o = append(o, member{key.Str, value})
		return true
	})
	return o
}

// get returns a member: the last of repeated ones, and zero if it is missing.
func (o object) get(key string) (none gjson.Result) {
	for i := len(o) - 1; i >= 0; i-- {
		if have := o[i].key; have != "" && have[0] == key[0] && sameKey(have, key) {
			return o[i].value
		}
	}
	return none
}

// sameKey reports whether a key of a file is one of ours, such as acceptance_criteria, which people also write
// acceptanceCriteria: whether option.Snake makes ours of it. A large plan asks this for each key of 20,000 records, so it
// allocates nothing.
func sameKey(key, ours string) bool {
	for i := range len(key) {
		upper := byte(0)
		if ours != "" && ours[0] == '_' && key[i] != '_' {
			ours, upper = ours[1:], 'a'-'A'
		}
		if ours == "" || key[i]+upper != ours[0] {
			return false
		}
		ours = ours[1:]
	}
	return ours == ""
}

// first returns the first of these members that exists and is not null.
func (o object) first(keys ...string) gjson.Result {
	for _, key := range keys {
		if v := o.get(key); v.Exists() && v.Type != gjson.Null {
			return v
		}
	}
	return gjson.Result{}
}

// place is an element of an array, for messages.
type place struct {
	array string
	at    int
}

func (p place) String() string { return fmt.Sprintf("%s[%d]", p.array, p.at) }

// record is one object of an array.
type record struct {
	place place
	value gjson.Result
	all   object // valid until the next record is read
}

// records reads each object of an array. name is for messages.
func (r *reader) records(name string, array gjson.Result, add func(record) error) (err error) {
	at, all := place{r.prefix() + name, -1}, object(nil)
	if len(r.Tasks) == 0 {
		start := array.Index + 1
		r.First = task.Range{File: r.file, Start: start, End: start}
	}
	array.ForEach(func(_, value gjson.Result) bool {
		if at.at++; !value.IsObject() {
			err = r.wrong(at.String(), value, "an object")
			return false
		}
		all = all.of(value)
		err = cmp.Or(add(record{at, value, all}), r.refused)
		return err == nil
	})
	return cmp.Or(err, r.refused)
}

// one reads the task of a record.
func (r *reader) one(rec record) (task.Task, task.Spot, error) {
	all := rec.all
	t := task.Task{
		ID:          text(all.get("id")),
		Title:       text(all.first("title", "name")),
		Description: text(all.get("description")),
		Criteria:    texts(all.first("acceptance_criteria", "steps")),
		Notes:       text(all.get("notes")),
		DependsOn:   texts(all.first("depends_on", "dependencies")),
		Category:    text(all.get("category")),
		Tags:        texts(all.first("tags", "labels")),
		Judges:      r.judges(rec.place, all.get("judges")),
		Evidence:    text(all.get("evidence_path")),
		Choice:      r.choice(rec.place, all),
		Created:     text(all.get("created_at")),
		Updated:     text(all.get("updated_at")),
		Line:        r.line(rec.value.Index), // first: offsets must not decrease
	}
	r.misspelled(rec)
	r.unread(rec.place, rec.all, false)
	spot := task.Spot{Item: r.span(rec.value)}
	if v := all.first("title", "name"); v.Type == gjson.String {
		spot.Title = r.span(v)
	}
	if v := all.first("priority", "order"); v.Exists() {
		spot.Order = r.span(v)
	}
	spot.Results = r.results(rec)
	if t.ID == "" {
		return t, spot, fmt.Errorf("%s (line %d): %q is missing: it must be a unique text", rec.place,
			r.line(rec.value.Index), "id")
	}
	var err error
	if t.Priority, err = r.priority(rec.place, all.get("priority")); err != nil {
		return t, spot, err
	}
	err = r.state(rec, &t, &spot)
	return t, spot, err
}

// state reads "status" and "passes".
func (r *reader) state(rec record, t *task.Task, spot *task.Spot) error {
	all := rec.all
	status, passes := all.get("status"), all.get("passes")
	if passes.Exists() {
		if !passes.IsBool() {
			return r.wrong(rec.place.String()+".passes", passes, "true or false")
		}
		spot.States = append(spot.States, task.Place{Range: r.span(passes), Words: r.truths(status.Exists())})
		if passes.Bool() {
			t.State = task.Done
		}
	}
	switch {
	case len(r.words.Read) == 0 || !status.Exists() && passes.Exists():
		if !passes.Exists() {
			spot.States = []task.Place{r.insertion(rec.value, map[task.State]string{task.Done: "true"}, "passes")}
		}
		return nil
	case !status.Exists():
		key, words := "status", map[task.State]string{}
		for s, word := range r.words.Write {
			words[s] = quoted(word)
		}
		if delete(words, task.Open); r.passes {
			key, words = "passes", map[task.State]string{task.Done: "true"}
		}
		spot.States = []task.Place{r.insertion(rec.value, words, key)}
		return nil
	case status.Type != gjson.String:
		return r.wrong(rec.place.String()+".status", status, "one of "+r.words.Known())
	}
	switch known := r.words.Apply(t, status.Str); {
	case !known:
		r.Warnings = append(r.Warnings, r.words.Unknown(fmt.Sprintf("%s (line %d)", rec.place, r.line(rec.value.Index)), status.Str))
	case passes.Exists() && passes.Bool() != t.Done():
		r.Faults = append(r.Faults, fmt.Sprintf("%s (line %d): %q says %q, and %q says %s", rec.place,
			r.line(rec.value.Index), "status", status.Str, "passes", passes.Raw))
	}
	inner := r.span(status)
	inner.Start, inner.End = inner.Start+1, inner.End-1
	spot.Word = inner
	spot.States = append(spot.States, task.Place{Range: inner, Words: r.words.Write})
	r.stamps(all, spot)
	return nil
}

// truths returns the words of "passes". If the record also has a status, there is one for each state.
func (r *reader) truths(status bool) map[task.State]string {
	if !status || len(r.words.Read) == 0 {
		return plainTruths()
	}
	words := map[task.State]string{}
	for s := range r.words.Write {
		words[s] = strconv.FormatBool(s == task.Done)
	}
	return words
}

var plainTruths = sync.OnceValue(func() map[task.State]string {
	return map[task.State]string{task.Open: "false", task.Done: "true"}
})

// where returns the place of a task, for messages.
func (r *reader) where(i int) string {
	at := r.Spots[i].Item
	f := r.files[at.File]
	line, _ := task.Position(f.Data, at.Start)
	if r.name == "" { // the plan is one file
		return fmt.Sprintf("line %d", line)
	}
	return fmt.Sprintf("%s, line %d", f.Name, line)
}

// add adds a task. It returns an error if its id is not unique.
func (r *reader) add(at place, t task.Task, spot task.Spot) error {
	if other, twice := r.seen[t.ID]; twice {
		line := r.line(spot.Item.Start)
		return fmt.Errorf("%s.id (line %d): %q is also the id of the story in %s: each must be unique", at, line, t.ID,
			r.where(other))
	}
	r.seen[t.ID] = len(r.Tasks)
	t.Title = cmp.Or(t.Title, t.ID)
	r.Tasks, r.Spots = append(r.Tasks, t), append(r.Spots, spot)
	return nil
}

func (r *reader) span(v gjson.Result) task.Range {
	return task.Range{File: r.file, Start: v.Index, End: v.Index + len(v.Raw)}
}

func (r *reader) priority(at place, v gjson.Result) (int, error) {
	if v.Type == gjson.Null { // or missing
		return task.NoPriority, nil
	}
	if v.Type == gjson.String && len(r.words.Read) > 0 {
		return task.PriorityOf(v.Str), nil
	}
	if v.Type != gjson.Number || v.Num != math.Trunc(v.Num) || math.Abs(v.Num) >= task.NoPriority {
		return 0, r.wrong(at.String()+".priority", v, "a whole number, 1 comes first")
	}
	return int(v.Num), nil
}

// insertion returns the place of a record without a state: a new last member, formatted like
// the one before it.
func (r *reader) insertion(object gjson.Result, values map[task.State]string, name string) task.Place {
	var last struct{ key, value gjson.Result }
	before := 0 // offset of the text between the last two members
	end := object.Index + 1
	object.ForEach(func(key, value gjson.Result) bool {
		before = end
		last.key, last.value = key, value
		end = value.Index + len(value.Raw)
		return true
	})
	gap := string(r.data[before:last.key.Index]) // blanks, at most one comma, blanks
	gap = gap[strings.IndexByte(gap, ',')+1:]
	colon := string(r.data[last.key.Index+len(last.key.Raw) : last.value.Index])
	words := map[task.State]string{}
	for s, value := range values {
		words[s] = "," + gap + quoted(name) + colon + value
	}
	return task.Place{Range: task.Range{File: r.file, Start: end, End: end}, Words: words}
}

func (r *reader) wrong(place string, found gjson.Result, allowed string) error {
	line, _ := task.Position(r.data, found.Index)
	shown := []rune(found.Raw)
	if len(shown) > 40 {
		shown = append(shown[:40], '…')
	}
	return fmt.Errorf("%s (line %d): must be %s, found %s", place, line, allowed, string(shown))
}

// text returns a string, the literal of a number or boolean, or "" for null or no value.
func text(v gjson.Result) string {
	if v.Type == gjson.Number {
		return v.Raw
	}
	return strings.TrimSpace(v.String())
}

// texts returns the elements of an array, or a single value.
func texts(v gjson.Result) []string {
	var all []string
	add := func(_, e gjson.Result) bool {
		if s := text(e); s != "" {
			all = append(all, s)
		}
		return true
	}
	if v.IsArray() {
		v.ForEach(add)
	} else {
		add(v, v)
	}
	return all
}

// quoted returns a text as JSON.
func quoted(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string: it cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}
