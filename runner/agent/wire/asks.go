package wire

// Bounds of what one call asks.
const (
	maxAsks    = 8
	maxOptions = 12
	maxAsked   = 2000 // bytes of a question
)

// asks reads the questions of a tool that asks the user. Claude Code, OpenCode, Gemini CLI
// and qwen agree on {"questions":[{"question":"…","options":[{"label":"…","description":"…"}]}]};
// simpler tools have one "question".
func asks(in Object) (all []Ask) {
	for q := range Elements(in.Get("questions")) {
		all = appendAsk(all, Members(q))
	}
	if len(all) == 0 {
		all = appendAsk(nil, in)
	}
	return all
}

func appendAsk(all []Ask, q Object) []Ask {
	text := Cut(q.Text("question"), maxAsked)
	if text == "" || len(all) == maxAsks {
		return all
	}
	a := Ask{Text: text}
	for option := range Elements(q.Get("options")) {
		label := option.String()
		if option.IsObject() {
			o := Members(option)
			if label = o.Text("label"); o.Text("description") != "" {
				label += ": " + o.Text("description")
			}
		}
		if label = OneLine(label); label != "" && len(a.Options) < maxOptions {
			a.Options = append(a.Options, label)
		}
	}
	return append(all, a)
}
