package stories

import (
	"fmt"
	"slices"

	"ralph/runner/task"
)

// story is the content of one file. It is never changed.
type story struct {
	task.Task
	spot   task.Spot
	status status
	front  bool  // the file has front matter
	err    error // the file cannot be read
	index  int   // of the file
	words  string
}

// readAll reads files with one story each, in their order, from an index on. It takes a story from the cache if the
// file was read before with the same words.
func readAll(files []task.File, from int, words task.Words, one func(*doc) (task.Task, task.Spot)) []story {
	all, by := make([]story, len(files)), fmt.Sprint(words)
	task.Each(len(files)-from, func(n int) {
		i := n + from
		if f := files[i]; f.Cached == nil {
			all[i] = readOne(i, f, words, one)
		} else if kept, ok := (*f.Cached).(story); ok && kept.index == i && kept.words == by {
			all[i] = kept
		} else {
			all[i] = readOne(i, f, words, one)
			all[i].words = by
			*f.Cached = all[i]
		}
	})
	return all
}

func readOne(i int, f task.File, words task.Words, one func(*doc) (task.Task, task.Spot)) story {
	d, err := read(i, f)
	if err != nil {
		return story{err: err}
	}
	s := story{index: i, front: d.front != nil, status: d.status(words)}
	s.Task, s.spot = one(d)
	s.spot.States = slices.Clip(s.spot.States)
	return s
}

// add adds the story to a plan.
func (s story) add(p *task.Parsed) {
	t, spot := s.Task, s.spot
	s.status.apply(&t, &spot)
	p.Tasks, p.Spots = append(p.Tasks, t), append(p.Spots, spot)
}
