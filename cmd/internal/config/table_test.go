package config

import (
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ralph/runner/agent"
	"ralph/runner/agenthooks"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/runner/hooks"
	"ralph/runner/memory"
	"ralph/runner/pool"
	"ralph/runner/roles"
	"ralph/runner/rules"
	"ralph/runner/rules/pace"
	"ralph/runner/sandbox"

	"ralph/runner/slots"
	"ralph/runner/task/store"
	"ralph/state/option"
)

// other returns an allowed value of the option that is not its default, and
// another one that differs from both.
func other(o option.Row) (string, string) {
	switch o.Kind {
	case option.Int:
		return "7", "8"
	case option.USD:
		return "7.5", "8.25"
	case option.Minutes, option.Hours:
		return "7", "90m"
	case option.Duration:
		return "7s", "1h30m"
	case option.Bool:
		if o.Default == "true" {
			return "false", "true"
		}
		return "true", "false"
	case option.Enum:
		i := (slices.Index(o.Values, o.Default) + 1) % len(o.Values)
		return o.Values[i], o.Values[(i+1)%len(o.Values)]
	case option.List:
		if o.Key == "PACE" {
			return "keep 30% of five_hour at 08:00,spread seven_day_opus", "spread seven_day"
		}
		if o.Key == "SANDBOX_READ" {
			return "~/data,/home/me/notes", "~/two words"
		}
		if o.Takes != nil {
			return "api.example.com,:443", "*.example.com"
		}
		return "Read,Bash(git add *)", "Bash(a, b),Write"
	case option.Env:
		return "NPM_*,!NPM_TOKEN", "!*"
	case option.Path:
		return "/p/one.md", "/p/two words.md"
	case option.Clock:
		return "23:00", "7:30"
	default:
		if o.Key == "FLEET" {
			return "nats://a", "tls://b:4222,c:1"
		}
		return "one", "two words; $(x)"
	}
}

// bad lists texts that the option must refuse.
func bad(o option.Row) []string {
	numbers := []string{"", "abc", "-1", "0x10", "1e3", "nan", "1h30", "999999999999999999999", "1,000"}
	switch o.Kind {
	case option.Int:
		numbers = append(numbers, "1.5", o.Max+"0")
	case option.USD:
		numbers = append(numbers, "inf", "$5", "1.", ".5", o.Max+"0")
	case option.Minutes, option.Hours:
		numbers = append(numbers, "10s10", "1d", o.Max+"0")
	case option.Duration:
		numbers = append(numbers, "10", "1d", "90000h")
	case option.Clock:
		return []string{"24:00", "7", "07:60", "7:30pm", "-1:00", "tonight"}
	case option.Bool:
		return []string{"", "maybe", "2"}
	case option.Enum:
		values := []string{"other", strings.ToUpper(o.Values[0]), o.Values[0] + "," + o.Values[1]}
		if o.Default != "" {
			values = append(values, "")
		}
		return values
	case option.List:
		if o.Key == "PACE" {
			return []string{"keep 30% of five_hour", "keep 0% of five_hour at 08:00", "keep 30% of five_hour at 25:00", "spread hour", "else haiku", "slow"}
		}
		if o.Takes != nil {
			return []string{"all,none", "none,:443", "a/b", "api.example.com:x", "*", ":0"}
		}
		return []string{"Bash(git", "Bash)", "Read,--dangerous", "a\x1bb", "a\nb"}
	case option.Env:
		return []string{"!", "A B", "A=b", "A,!!B", "[A-Z]*", "A\\", "-A", "!(A)", "A\nB", "\xff"}
	case option.Path:
		return []string{"a\x00b", "a\nb", "\xff"}
	default:
		if o.Key == "FLEET" {
			return []string{"foo", "http://x", "nats://host:1x", "nats://host:0", "nats://a,b", "nats://a/b", "nats://a?b", "://a:1"}
		}
		return []string{"--dangerous", "a\nb", "a\x1b[31mb", "\xff"}
	}
	if o.Min != "0" && o.Min != "0s" {
		numbers = append(numbers, "0")
	}
	return numbers
}

func TestTable_rowsAreComplete(t *testing.T) {
	seen := map[string]string{}
	claim := func(name, key string) {
		if name == "" {
			return
		}
		if owner := seen[name]; owner != "" {
			t.Errorf("%s and %s both use %q", owner, key, name)
		}
		seen[name] = key
	}
	name := regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)
	for _, o := range Table() {
		for _, n := range append([]string{o.Key}, o.Aliases...) {
			if !name.MatchString(n) {
				t.Errorf("%q is not a name for .ralphrc", n)
			}
			claim(n, o.Key)
		}
		claim("--"+o.Flag, o.Key)
		if o.Flag == "" {
			delete(seen, "--")
		}
		claim(o.NoFlag, o.Key)
		claim(o.Short, o.Key)
		claim(o.YAML, o.Key)
		if strings.Count(o.YAML, ".") != 1 || o.Group == "" || !strings.HasSuffix(o.Help, ".") {
			t.Errorf("%s: YAML %q, Group %q, Help %q", o.Key, o.YAML, o.Group, o.Help)
		}
		if wantArg := o.Flag != "" && o.Kind != option.Bool; wantArg != (o.Arg != "") {
			t.Errorf("%s: Arg is %q", o.Key, o.Arg)
		}
		if numeric := slices.Contains([]option.Kind{option.Int, option.USD, option.Minutes, option.Hours, option.Duration}, o.Kind); numeric != (o.Min != "" && o.Max != "") {
			t.Errorf("%s: bounds %q, %q", o.Key, o.Min, o.Max)
		}
	}
}

func TestTable_coversEveryFieldOfOptionsOnce(t *testing.T) {
	var opts Options
	covered := map[any]string{}
	for _, o := range opts.rows() {
		covered[o.Field] = o.Key
		if !slices.Contains(groups(), o.Group) {
			t.Errorf("%s stands under the unknown heading %q", o.Key, o.Group)
		}
	}
	eachField(reflect.ValueOf(&opts).Elem(), func(name string, field any) {
		if covered[field] == "" {
			t.Errorf("no option fills %s", name)
		}
	})
	if len(covered) != len(Table()) {
		t.Errorf("%d rows fill %d fields", len(Table()), len(covered))
	}
}

// eachField visits the fields, those of embedded structs too.
func eachField(v reflect.Value, visit func(name string, field any)) {
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.Anonymous || f.Type.Kind() == reflect.Struct {
			eachField(v.Field(i), visit)
		} else if v.Type() == reflect.TypeFor[hooks.Commands]() { // one for each row of a table
			for k := range v.Field(i).Len() {
				visit(f.Name, v.Field(i).Index(k).Addr().Interface())
			}
		} else {
			visit(f.Name, v.Field(i).Addr().Interface())
		}
	}
}

func TestDefaults_areThoseOfTheContract(t *testing.T) {
	c, _, err := Loader{Dir: t.TempDir()}.Load()
	if err != nil {
		t.Fatal(err)
	}
	tools := c.AllowedTools
	c.AllowedTools = nil
	want := Options{
		Policy: rules.Policy{
			BreakerPolicy: rules.BreakerPolicy{NoProgressThreshold: 3, SameErrorThreshold: 5, DenialThreshold: 2, OutputDeclineThreshold: 70,
				Cooldown: 30 * time.Minute},
			Pacing:       pace.Pacing{Pace: []string{}},
			QuestionWait: 30 * time.Minute,
			CallsPerHour: 100, OnLimit: "wait", CompletionClaims: 2, MaxRetries: 3, MaxPerTask: 10, AntiCheat: "revert", ErrorPause: 5 * time.Second,
		},
		CallOptions: pool.CallOptions{ActiveTimeout: 2 * time.Hour, IdleTimeout: 10 * time.Minute, Agent: "claude", FallbackAgents: []string{},
			PermissionMode: "allowed-tools"},
		Continuity:   pool.Continuity{SessionExpiry: 24 * time.Hour},
		EnvExclusion: agent.EnvExclusion{EnvExclude: []string{}},
		PlanOptions: store.PlanOptions{OptionalSections: []string{"Optional", "Future", "Future Enhancements", "Nice to Have"},
			Selection: store.Selection{OnlyTasks: []string{}}},
		CheckOptions:  gate.CheckOptions{DetectChecks: true, TestMode: "auto", BaselineScope: "session", FailFast: true},
		CommitOptions: git.CommitOptions{CommitPrefix: "[ralph]", Receipts: true},
		Commands:      hooks.Commands{Hook: make([]string, len(hooks.Points()))},
		Review:        roles.Review{Judges: []string{}},
		AIOSOptions:   AIOSOptions{Enabled: "auto", QAEnabled: true},
		Touch:         Notifications{Notify: []string{}, NotifyOn: []string{"ended", "halted", "limited", "question", "review"}},
		Wanted:        agenthooks.Wanted{MaxContinuations: 5},
		LessonOptions: memory.LessonOptions{Learn: true, ArchiveBranch: true, MemoryFile: true},
		SlotOptions:   slots.SlotOptions{Parallel: 1, Isolate: "none", Land: "checkout"},
		Settings:      sandbox.Settings{Sandbox: "off", SandboxNet: []string{"all"}, SandboxRead: []string{}, SandboxImage: "localhost/ralph-sandbox"},
	}
	if diff := cmp.Diff(want, c.Options); diff != "" {
		t.Error(diff)
	}
	if !slices.Contains(tools, "Bash(git add *)") || !slices.Contains(tools, "Write") {
		t.Errorf("tools: %q", tools)
	}
	for _, tool := range tools {
		for _, unsafe := range []string{"git *", "push", "reset", "clean", "stash", "checkout", "rm"} {
			if strings.Contains(tool, unsafe) {
				t.Errorf("%q is allowed by default", tool)
			}
		}
	}
}

func TestParse_eachRowTakesItsDefaultAndRefusesBadText(t *testing.T) {
	for _, o := range Table() {
		if _, ok := o.Parse(o.Default); !ok {
			t.Errorf("%s refuses its default %q", o.Key, o.Default)
		}
		one, two := other(o)
		for _, text := range []string{one, " " + two + " ", o.Min, o.Max} {
			if _, ok := o.Parse(text); !ok && text != "" {
				t.Errorf("%s refuses %q", o.Key, text)
			}
		}
		for _, text := range bad(o) {
			if value, ok := o.Parse(text); ok {
				t.Errorf("%s takes %q as %v", o.Key, text, value)
			}
		}
	}
}

func TestParse_units(t *testing.T) {
	for _, test := range []struct {
		kind option.Kind
		text string
		want any
	}{
		{option.Minutes, "90", 90 * time.Minute},
		{option.Minutes, "0.5", 30 * time.Second},
		{option.Minutes, "90m", 90 * time.Minute},
		{option.Minutes, "1h", time.Hour},
		{option.Hours, "24", 24 * time.Hour},
		{option.Hours, "90m", 90 * time.Minute},
		{option.Duration, "0", time.Duration(0)},
		{option.Duration, "1h30m", 90 * time.Minute},
		{option.USD, "12.50", 12.5},
		{option.Int, "0100", int64(100)},
		{option.Bool, "Yes", true},
		{option.Bool, "0", false},
		{option.List, "Bash(git add:*),Read", []string{"Bash(git add:*)", "Read"}},
		{option.List, " Bash(a, b(c,d)) ,, Read,", []string{"Bash(a, b(c,d))", "Read"}},
		{option.List, "", []string{}},
	} {
		got, ok := option.Row{Kind: test.kind}.Parse(test.text)
		if !ok || !cmp.Equal(got, test.want) {
			t.Errorf("%s %q: got %v, %v, want %v", test.kind, test.text, got, ok, test.want)
		}
	}
}

func TestFormat_isReadBackTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := rapid.SampledFrom(Table()).Draw(t, "option")
		field := o.Field
		text := map[option.Kind]*rapid.Generator[string]{
			option.Int:      rapid.StringMatching(`[0-9]{1,7}`),
			option.USD:      rapid.StringMatching(`[0-9]{1,6}(\.[0-9]{1,4})?`),
			option.Minutes:  rapid.StringMatching(`[0-9]{1,4}(\.[0-9]|s|m|m[0-9]s|h)?`),
			option.Hours:    rapid.StringMatching(`[0-9]{1,4}(\.[0-9]|s|m|h|h[0-9]m)?`),
			option.Duration: rapid.StringMatching(`[0-9]{1,4}(ms|s|m|h|h[0-9]m[0-9]s)`),
			option.Clock:    rapid.StringMatching(`([0-2]?[0-9]:[0-9]{2})?`),
			option.Bool:     rapid.SampledFrom([]string{"true", "no", "ON"}),
			option.Enum:     rapid.SampledFrom(append([]string{"x"}, o.Values...)),
			option.List:     rapid.StringMatching(`[A-Za-z*,() ]{0,20}`),
			option.Env:      rapid.StringMatching(`[A-Z*?!, ]{0,20}`),
			option.Path:     rapid.StringMatching(`[ -~äß]{0,20}`),
			option.String:   rapid.StringMatching(`[ -~äß]{0,20}`),
		}[o.Kind].Draw(t, "text")
		value, ok := o.Parse(text)
		if !ok {
			return
		}
		option.Store(field, value)
		again, ok := o.Parse(o.Format(field))
		if !ok || !cmp.Equal(value, again) {
			t.Fatalf("%s: %q became %v, was written as %q, and became %v", o.Key, text, value, o.Format(field), again)
		}
	})
}

func TestFlags_roundTripOverTheWholeTable(t *testing.T) {
	dir, cwd := t.TempDir(), t.TempDir()
	for pick := range 2 {
		given := map[string]string{}
		for _, o := range Table() {
			if o.Flag == "" {
				continue
			}
			one, two := other(o)
			given[o.Key] = []string{one, two}[pick]
			if o.Kind == option.Path {
				given[o.Key] = "sub/a file.md"
			}
		}
		outer, _, err := Loader{Dir: dir, Cwd: cwd, Flags: given}.Load()
		if err != nil {
			t.Fatal(err)
		}
		inner, _, err := Loader{Dir: dir, Cwd: "/elsewhere", Flags: readFlags(t, outer.Flags())}.Load()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(outer.Options, inner.Options); diff != "" {
			t.Error(diff)
		}
		if len(outer.Flags()) != len(given) {
			t.Errorf("%d flags given, %d passed on: %q", len(given), len(outer.Flags()), outer.Flags())
		}
		if want := filepath.Join(cwd, "sub/a file.md"); inner.PromptFile != want {
			t.Errorf("prompt %q, want %q", inner.PromptFile, want)
		}
	}
}

func TestFlags_valuesFromOtherSourcesAreNotPassedOn(t *testing.T) {
	c, _, err := Loader{Dir: t.TempDir(), Env: []string{"MODEL=m"}, Flags: map[string]string{"AGENT": "codex"}}.Load()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"--agent=codex"}, c.Flags()); diff != "" {
		t.Error(diff)
	}
}

// readFlags is what a command line parser does with --flag=value.
func readFlags(t *testing.T, argv []string) map[string]string {
	t.Helper()
	keys := map[string]string{}
	for _, o := range Table() {
		keys["--"+o.Flag] = o.Key
	}
	flags := map[string]string{}
	for _, arg := range argv {
		name, value, ok := strings.Cut(arg, "=")
		if !ok || keys[name] == "" {
			t.Fatalf("argument %q is not a flag with a value", arg)
		}
		flags[keys[name]] = value
	}
	return flags
}
