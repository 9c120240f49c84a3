package task

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/tidwall/gjson"
)

// parsePRD reads a prd.json: an object with userStories, an array of objects. It ignores
// unknown keys. The last of repeated keys counts.
func parsePRD(data []byte, _ []string) (List, []mark, error) {
	var raw json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			line, col := position(data, max(int(syntax.Offset)-1, 0))
			return List{}, nil, fmt.Errorf("line %d, column %d: invalid JSON: %w", line, col, err)
		}
		return List{}, nil, fmt.Errorf("invalid JSON: %w", err)
	}
	p := prd{data: data, seen: map[string]int{}}
	root := gjson.ParseBytes(data)
	if !root.IsObject() {
		return List{}, nil, fmt.Errorf("line 1: must be an object with an array %q", "userStories")
	}
	top := members(root)
	list := List{Project: top["project"].value.String(), Description: top["description"].value.String(), Choice: choiceOf(top).Or(choiceOf(members(top["metadata"].value)))}
	if list.Project == "" {
		list.Project = top["name"].value.String()
	}
	stories := top["userStories"].value
	if !stories.Exists() {
		return List{}, nil, fmt.Errorf("%q is missing: it must be an array of stories", "userStories")
	}
	if !stories.IsArray() {
		return List{}, nil, p.wrong("userStories", stories, "an array of stories")
	}
	var err error
	stories.ForEach(func(_, story gjson.Result) bool {
		var t Task
		var m mark
		if t, m, err = p.story(len(list.Tasks), story); err != nil {
			return false
		}
		list.Tasks = append(list.Tasks, t)
		p.marks = append(p.marks, m)
		return true
	})
	return list, p.marks, err
}

// prd is the state of parsing one prd.json.
type prd struct {
	data  []byte
	marks []mark
	seen  map[string]int // line of each id
	at    int            // offset up to which lines are counted
	lines int            // line breaks before at
}

// line is the 1-based line of offset, which must not decrease between calls.
func (p *prd) line(offset int) int {
	if offset > p.at {
		p.lines += bytes.Count(p.data[p.at:offset], []byte("\n"))
		p.at = offset
	}
	return p.lines + 1
}

// member is one key of an object with its value.
type member struct{ key, value gjson.Result }

func members(object gjson.Result) map[string]member {
	all := map[string]member{}
	object.ForEach(func(key, value gjson.Result) bool {
		all[key.Str] = member{key, value}
		return true
	})
	return all
}

// choiceOf reads agent and model, or a provider: its name, or an object with a
// name and a model. A provider's model goes to no other agent.
func choiceOf(object map[string]member) Choice {
	provider := object["provider"].value
	named := Choice{Agent: text(provider)}
	if provider.IsObject() {
		all := members(provider)
		named = Choice{Agent: text(all["name"].value), Model: text(all["model"].value)}
	}
	return Choice{Agent: text(object["agent"].value), Model: text(object["model"].value)}.Or(named)
}

func (p *prd) story(i int, story gjson.Result) (Task, mark, error) {
	place := fmt.Sprintf("userStories[%d]", i)
	if !story.IsObject() {
		return Task{}, mark{}, p.wrong(place, story, "an object")
	}
	all := members(story)
	t := Task{
		ID:          text(all["id"].value),
		Title:       text(all["title"].value),
		Description: text(all["description"].value),
		Criteria:    texts(all["acceptanceCriteria"].value),
		Notes:       text(all["notes"].value),
		DependsOn:   texts(all["dependsOn"].value),
		Choice:      choiceOf(all),
	}
	line := p.line(story.Index)
	if t.ID == "" {
		return t, mark{}, fmt.Errorf("%s (line %d): %q is missing: it must be a unique text", place, line, "id")
	}
	if other, twice := p.seen[t.ID]; twice {
		return t, mark{}, fmt.Errorf("%s.id (line %d): %q is also the id of the story in line %d: each must be unique", place, line, t.ID, other)
	}
	p.seen[t.ID] = line
	if t.Title == "" {
		t.Title = t.ID
	}
	var err error
	if t.Priority, err = p.priority(place, all["priority"].value); err != nil {
		return t, mark{}, err
	}
	passes := all["passes"].value
	switch {
	case !passes.Exists():
		return t, p.insertion(story), nil
	case !passes.IsBool():
		return t, mark{}, p.wrong(place+".passes", passes, "true or false")
	}
	t.Done = passes.Bool()
	return t, mark{passes.Index, passes.Index + len(passes.Raw), "true", "false"}, nil
}

func (p *prd) priority(place string, v gjson.Result) (int, error) {
	if v.Type == gjson.Null { // or missing
		return NoPriority, nil
	}
	if v.Type != gjson.Number || v.Num != math.Trunc(v.Num) || math.Abs(v.Num) >= NoPriority {
		return 0, p.wrong(place+".priority", v, "a whole number, 1 comes first")
	}
	return int(v.Num), nil
}

// insertion is the mark of a story without passes: a new last member, formatted like the
// one before it.
func (p *prd) insertion(story gjson.Result) mark {
	var last member
	before := 0 // offset of the text between the last two members
	end := story.Index + 1
	story.ForEach(func(key, value gjson.Result) bool {
		before, last = end, member{key, value}
		end = value.Index + len(value.Raw)
		return true
	})
	gap := string(p.data[before:last.key.Index]) // blanks, at most one comma, blanks
	gap = gap[strings.IndexByte(gap, ',')+1:]
	colon := string(p.data[last.key.Index+len(last.key.Raw) : last.value.Index])
	return mark{end, end, "," + gap + `"passes"` + colon + "true", ""}
}

func (p *prd) wrong(place string, found gjson.Result, allowed string) error {
	line, _ := position(p.data, found.Index)
	shown := []rune(found.Raw)
	if len(shown) > 40 {
		shown = append(shown[:40], '…')
	}
	return fmt.Errorf("%s (line %d): must be %s, found %s", place, line, allowed, string(shown))
}

// text is a string, the literal of a number or boolean, or "" for null or no value.
func text(v gjson.Result) string {
	if v.Type == gjson.Number {
		return v.Raw
	}
	return strings.TrimSpace(v.String())
}

// texts are the elements of an array, or a single value.
func texts(v gjson.Result) []string {
	var all []string
	for _, e := range v.Array() {
		if s := text(e); s != "" {
			all = append(all, s)
		}
	}
	return all
}

// position is the 1-based line and column (in bytes) of offset in data.
func position(data []byte, offset int) (line, col int) {
	before := data[:min(offset, len(data))]
	return bytes.Count(before, []byte("\n")) + 1, offset - bytes.LastIndexByte(before, '\n')
}
