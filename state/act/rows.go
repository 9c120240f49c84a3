package act

// Task is a task in the JSON of ralph task.
type Task struct {
	ID        string   `json:"id"`
	Title     string   `json:"title"`
	State     string   `json:"state"`
	Optional  bool     `json:"optional"`
	DependsOn []string `json:"depends_on"`
	Category  string   `json:"category"`
	Priority  *int     `json:"priority"` // null: it has none
	Agent     string   `json:"agent"`
	Model     string   `json:"model"`
	Attempts  int      `json:"attempts"`
	Work      []int    `json:"work"`  // the iterations whose changes belong to it, of the latest run that worked on it
	Proof     string   `json:"proof"` // tests, review, checks, word or none
	Tags      []string `json:"tags,omitempty"`
	File      string   `json:"file,omitempty"`
	Line      int      `json:"line,omitempty"`
	AgentFrom string   `json:"agent_from,omitempty"` // task or plan: what names agent and model
	Word      string   `json:"word,omitempty"`       // the file's own for the state, if it is an unusual one
	Why       string   `json:"why,omitempty"`        // it is blocked, put aside or waits for an answer
	Link      string   `json:"link,omitempty"`       // to its issue or thread of a review: gh:OWNER/REPO#12
	Depth     int      `json:"depth,omitempty"`
	Section   string   `json:"section,omitempty"`
	CreatedAt string   `json:"created_at,omitempty"` // as the plan has it
	UpdatedAt string   `json:"updated_at,omitempty"`

	Description string   `json:"description"`
	Criteria    []string `json:"criteria"`
	Notes       string   `json:"notes"`
}

// Agent is an agent in the JSON of ralph agent list.
type Agent struct {
	Name    string   `json:"agent"`
	Runs    bool     `json:"runs"`
	Why     string   `json:"why,omitempty"` // it does not
	Chosen  bool     `json:"chosen"`        // it is used unless another one is named
	Version string   `json:"version"`
	Login   string   `json:"login"`
	Models  []string `json:"models"`
}
