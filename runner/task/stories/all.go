package stories

import "ralph/runner/task"

// story is the content of one file.
type story struct {
	task.Task
	spot   task.Spot
	status status
	front  bool  // the file has front matter
	err    error // the file cannot be read
}

// readAll reads files with one story each, in their order, from an index on.
func readAll(files []task.File, from int, words task.Words, one func(*doc) (task.Task, task.Spot)) []story {
	all := make([]story, len(files))
	for i, f := range files[from:] {
		s := &all[from+i]
		d, err := read(from+i, f)
		if s.err = err; err == nil {
			s.front, s.status = d.front != nil, d.status(words)
			s.Task, s.spot = one(d)
		}
	}
	return all
}

// add adds the story to a plan.
func (s story) add(p *task.Parsed) {
	s.status.apply(&s.Task, &s.spot)
	p.Tasks, p.Spots = append(p.Tasks, s.Task), append(p.Spots, s.spot)
}
