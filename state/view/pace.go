package view

import "time"

// Pace is how many tokens a run used over time, in steps of equal length from its start. A run of any length has
// at most maxSteps: the steps become longer.
type Pace struct {
	Step  time.Duration
	Steps []int64
}

const (
	firstStep = 5 * time.Second
	maxSteps  = 512
)

// add counts tokens that are known at a time after the start.
func (p *Pace) add(at time.Duration, tokens int64) {
	if tokens <= 0 || at < 0 || at > 365*24*time.Hour {
		return
	}
	p.Step = max(p.Step, firstStep)
	for at/p.Step >= maxSteps {
		for i, n := range p.Steps {
			if i%2 == 1 {
				n += p.Steps[i/2]
			}
			p.Steps[i/2] = n
		}
		p.Steps = p.Steps[:(len(p.Steps)+1)/2]
		p.Step *= 2
	}
	for at/p.Step >= time.Duration(len(p.Steps)) {
		p.Steps = append(p.Steps, 0)
	}
	p.Steps[at/p.Step] += tokens
}

// Spread lays the time up to now out in n columns: tokens a minute in each.
func (p *Pace) Spread(n int, now time.Duration) []float64 {
	if p.Step == 0 || n <= 0 || now <= 0 {
		return nil
	}
	columns := make([]float64, n)
	for i, tokens := range p.Steps {
		// A step covers columns from..to, also in part.
		from, to := float64(time.Duration(i)*p.Step)/float64(now)*float64(n), float64(time.Duration(i+1)*p.Step)/float64(now)*float64(n)
		to = min(to, float64(n))
		for at := int(from); float64(at) < to; at++ {
			part := (min(to, float64(at+1)) - max(from, float64(at))) / (to - from)
			columns[at] += float64(tokens) * part
		}
	}
	minutes := now.Minutes() / float64(n)
	for i := range columns {
		columns[i] /= minutes
	}
	return columns
}
