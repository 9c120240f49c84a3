package ledger

// This file estimates the cost of calls that were cut off. Most agents count tokens all along, and name the cost only at
// the end of a call.

import (
	"fmt"

	"ralph/logs/termtext"
	"ralph/runner/turn"
	"ralph/state"
)

// prices has what the calls of this run cost, by agent and model.
type prices map[string]price

type price struct {
	usd    float64
	tokens int64 // that usd has paid

	unpricedCalls  int
	unpricedTokens int64
}

// of estimates what so many tokens cost; 0: nobody knows.
func (p price) of(tokens int64) float64 {
	if p.tokens == 0 {
		return 0
	}
	return p.usd * float64(tokens) / float64(p.tokens)
}

// price returns the turn with an estimate of its cost, if its call was cut off. A call that names its cost also prices those
// before it.
func (l *Ledger) price(res turn.Result) turn.Result {
	u, key := res.Call.Usage, res.Agent+" "+res.Model
	p := l.prices[key]
	switch {
	case u.UnpricedCalls == 0:
		p.usd, p.tokens = p.usd+u.CostUSD, p.tokens+u.Total()
		if usd := p.of(p.unpricedTokens); usd > 0 {
			l.Memory.Usage = l.Memory.Usage.Priced(p.unpricedCalls, usd)
			p.unpricedCalls, p.unpricedTokens = 0, 0
		}
	case p.of(u.Total()) > 0:
		res = turn.Priced(res, p.of(u.Total()))
	default:
		if p.unpricedCalls, p.unpricedTokens = p.unpricedCalls+1, p.unpricedTokens+u.Total(); l.Policy.MaxCost > 0 && !l.toldUnpriced {
			l.toldUnpriced = true
			l.Tell(res.Origin, state.Finding{Source: state.FoundByAudit, Name: "unknown_cost", Doubt: true, Text: fmt.Sprintf(
				"the cost of this call is unknown (%s): it was cut off before the agent named it. MAX_COST_USD does not count such "+
					"calls until one of the same agent and model ends by itself", termtext.Count(int(u.Total()), "token"))})
		}
	}
	if l.prices == nil {
		l.prices = prices{}
	}
	l.prices[key] = p
	return res
}
