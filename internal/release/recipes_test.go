package release

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"ralph/internal/world"
)

const recipes = root + "/packaging/worker"

func recipe(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(recipes, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// needs skips the test where a tool is missing.
func needs(t *testing.T, tool string) string {
	t.Helper()
	path, err := exec.LookPath(tool)
	if err != nil {
		t.Skip("needs " + tool)
	}
	return path
}

// What a recipe starts is a verb of ralph-hub that has these flags, and reads these variables.
func TestRecipes_workers_useFlagsThatExist(t *testing.T) {
	hub := filepath.Join(world.Programs(t), "ralph-hub")
	command := regexp.MustCompile(`ralph-hub (worker|fleet)\b([^\n]*)`)
	flag := regexp.MustCompile(`--[a-z-]+`)
	for name, starts := range map[string]int{"ralph-worker.service": 1, "Dockerfile": 1, "kubernetes.yaml": 0, "ralph-worker.nomad.hcl": 0} {
		all := command.FindAllStringSubmatch(recipe(t, name), -1)
		if len(all) != starts {
			t.Errorf("%s starts %d programs, want %d", name, len(all), starts)
		}
		for _, found := range all {
			help, err := exec.Command(hub, found[1], "--help").CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, help)
			}
			for _, f := range flag.FindAllString(found[2], -1) {
				if !strings.Contains(string(help), f+" ") {
					t.Errorf("%s: ralph-hub %s has no flag %s", name, found[1], f)
				}
			}
		}
	}
}

// The recipes set only variables that the image, the service or ralph-hub reads.
func TestRecipes_variables_areRead(t *testing.T) {
	read := []string{"RALPH_AGENT"}
	variable := regexp.MustCompile(`\bRALPH_[A-Z_]+\b`)
	start := regexp.MustCompile(`(?m)^(ExecStart|ENTRYPOINT).*$`)
	read = append(read, variable.FindAllString(start.FindString(recipe(t, "Dockerfile")), -1)...)
	hub, err := os.ReadFile(root + "/cmd/internal/hub/fleet/fleet.go")
	if err != nil {
		t.Fatal(err)
	}
	read = append(read, variable.FindAllString(string(hub), -1)...)
	for _, name := range []string{"ralph-worker.service", "Dockerfile", "kubernetes.yaml", "ralph-worker.nomad.hcl"} {
		for _, v := range variable.FindAllString(recipe(t, name), -1) {
			if !slices.Contains(read, v) {
				t.Errorf("%s sets %s, which nothing reads", name, v)
			}
		}
	}
}

func TestRecipes_service_isOneForSystemd(t *testing.T) {
	systemd := needs(t, "systemd-analyze")
	unit := filepath.Join(t.TempDir(), "ralph-worker.service")
	text := strings.Replace(recipe(t, "ralph-worker.service"), "/usr/bin/ralph-hub", "/bin/true", 1) // it has to be there
	if err := os.WriteFile(unit, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(systemd, "verify", "--man=no", unit).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd says %v:\n%s", err, out)
	}
}

// kubectl reads the manifest into its own types: what they do not know is missing afterwards.
func TestRecipes_deployment_isKnownToKubernetes(t *testing.T) {
	kubectl := needs(t, "kubectl")
	file := filepath.Join(recipes, "kubernetes.yaml")
	cmd := exec.Command(kubectl, "label", "--local", "--overwrite", "-o", "json", "-f", file, "app.kubernetes.io/name=ralph-worker")
	cmd.Env = append(os.Environ(), "KUBECONFIG=/dev/null", "HOME="+t.TempDir())
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("kubectl: %v\n%s", err, out)
	}
	var mine, theirs any
	if err := json.Unmarshal(out, &theirs); err != nil {
		t.Fatal(err)
	}
	asJSON, err := yaml.YAMLToJSON([]byte(recipe(t, "kubernetes.yaml")))
	if err == nil {
		err = json.Unmarshal(asJSON, &mine)
	}
	if err != nil {
		t.Fatal(err)
	}
	within(t, "", mine, theirs)
}

// within checks that all of a is part of b.
func within(t *testing.T, path string, a, b any) {
	t.Helper()
	switch a := a.(type) {
	case map[string]any:
		b, _ := b.(map[string]any)
		for key, value := range a {
			if _, known := b[key]; !known {
				t.Errorf("%s.%s is not known", path, key)
				continue
			}
			within(t, path+"."+key, value, b[key])
		}
	case []any:
		b, _ := b.([]any)
		if len(a) != len(b) {
			t.Errorf("%s has %d entries, of which %d are known", path, len(a), len(b))
			return
		}
		for i := range a {
			within(t, path, a[i], b[i])
		}
	default:
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s is %v, known as %v", path, a, b)
		}
	}
}

// Terraform has the same language as Nomad: where it is installed, it reads the job and would format it as it is.
func TestRecipes_job_isWellFormedHCL(t *testing.T) {
	text := recipe(t, "ralph-worker.nomad.hcl")
	depth := 0
	for n, line := range strings.Split(text, "\n") {
		depth += strings.Count(line, "{") - strings.Count(line, "}")
		if depth < 0 {
			t.Fatalf("line %d closes a block that is not open", n+1)
		}
	}
	if depth != 0 {
		t.Errorf("%d blocks stay open", depth)
	}
	terraform, err := exec.LookPath("terraform")
	if err != nil {
		t.Log("terraform is not installed: only the blocks were looked at")
		return
	}
	file := filepath.Join(t.TempDir(), "job.tf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(terraform, "fmt", "-no-color", "-check", "-diff", file).CombinedOutput(); err != nil {
		t.Errorf("terraform fmt: %v\n%s", err, out)
	}
}
