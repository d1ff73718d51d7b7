package pipelines

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const (
	root      = "../.."
	manifests = root + "/manifests/pipelines/"
)

// job is what a pipeline is given, and where it runs.
type job struct {
	inputs  map[string]string // by the names of the action's inputs
	api     string
	dir     string
	program string // the directory of kubectl-fdb
}

// ended is what a job leaves.
type ended struct {
	code    int
	results map[string]string
	log     string
}

// systems run a job as the manifest of each system describes it.
var systems = map[string]func(*testing.T, job) ended{"GitHub Actions": onGitHub, "Tekton": onTekton, "Argo Workflows": onArgo, "GitLab CI/CD": onGitLab}

// onEach runs a test on each system.
func onEach(t *testing.T, test func(t *testing.T, run func(*testing.T, job) ended)) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(systems)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, systems[name])
		})
	}
}

func read(t *testing.T, path string, into any) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	unmarshal(t, string(content), into)
}

func unmarshal(t *testing.T, text string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}

// shell runs a script and returns its exit code.
func (j job) shell(t *testing.T, environment map[string]string, name string, args ...string) ended {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = j.dir
	cmd.Env = []string{"PATH=" + j.program + ":" + os.Getenv("PATH"), "HOME=" + j.dir}
	for key, value := range environment {
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	log, err := cmd.CombinedOutput()
	var exited *exec.ExitError
	if err != nil && !errors.As(err, &exited) {
		t.Fatal(err)
	}
	return ended{code: cmd.ProcessState.ExitCode(), log: string(log), results: map[string]string{}}
}

// replaced replaces each reference of a text; one that is unknown fails the test.
func replaced(t *testing.T, text string, reference *regexp.Regexp, values map[string]string) string {
	t.Helper()
	return reference.ReplaceAllStringFunc(text, func(match string) string {
		name := reference.FindStringSubmatch(match)[1]
		value, known := values[name]
		if !known {
			t.Errorf("unknown reference %s", match)
		}
		return value
	})
}

// step is one of the composite action.
type step struct {
	ID, If, Shell, Run string
	Env                map[string]string
}

type action struct {
	Inputs  map[string]struct{ Default string }
	Outputs map[string]struct{ Value string }
	Runs    struct{ Steps []step }
}

var expression = regexp.MustCompile(`\$\{\{ ([\w.-]+) \}\}`)

func onGitHub(t *testing.T, j job) ended {
	t.Helper()
	var a action
	read(t, manifests+"github/action.yml", &a)
	values := map[string]string{
		"github.token": token, "github.repository": "orders/infrastructure", "github.api_url": j.api, "github.server_url": "https://github.example.com",
		"github.run_id": "4711", "github.event.pull_request.number": "",
	}
	for name, input := range a.Inputs {
		values["inputs."+name] = replaced(t, input.Default, expression, values)
		if given, set := j.inputs[name]; set {
			values["inputs."+name] = given
		}
	}
	path, err := filepath.Abs(manifests + "github")
	if err != nil {
		t.Fatal(err)
	}
	last := ended{}
	for _, s := range a.Runs.Steps {
		if strings.Contains(s.Run, "${{") {
			t.Errorf("a value of another user would become part of the script: %s", s.Run)
		}
		if s.If == "inputs.version != ''" && values["inputs.version"] == "" {
			continue
		}
		last = j.onRunner(t, s, path, values)
		if last.code != 0 {
			break
		}
	}
	return last
}

// onRunner runs a step as a runner of GitHub does.
func (j job) onRunner(t *testing.T, s step, path string, values map[string]string) ended {
	t.Helper()
	outputs, paths := filepath.Join(j.dir, "outputs"), filepath.Join(j.dir, "paths")
	environment := map[string]string{
		"GITHUB_ACTION_PATH": path, "GITHUB_OUTPUT": outputs, "GITHUB_PATH": paths, "RUNNER_TEMP": filepath.Join(j.dir, "temp"),
		"GITHUB_SERVER_URL": j.api,
	}
	for key, value := range s.Env {
		environment[key] = replaced(t, value, expression, values)
	}
	if added, err := os.ReadFile(paths); err == nil {
		j.program = strings.TrimSpace(string(added))
	}
	result := j.shell(t, environment, "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", s.Run)
	content, _ := os.ReadFile(outputs)
	for line := range strings.Lines(string(content)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		result.results[name] = value
	}
	return result
}

// variable is one of the environment of a container.
type variable struct {
	Name, Value string
	ValueFrom   struct{ SecretKeyRef struct{ Key string } }
}

type parameter struct{ Name, Default, Value string }

// container runs the script of a container. Directories of the pod are below that of the job.
func (j job) container(t *testing.T, script string, environment []variable, reference *regexp.Regexp, values map[string]string) ended {
	t.Helper()
	given := map[string]string{}
	for _, v := range environment {
		given[v.Name] = replaced(t, v.Value, reference, values)
		if v.ValueFrom.SecretKeyRef.Key == "token" {
			given[v.Name] = token
		}
	}
	results := t.TempDir()
	given["RESULTS"] = results
	if reference.MatchString(script) {
		t.Error("a value of another user would become part of the script")
	}
	file := filepath.Join(results, "script")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	result := j.shell(t, given, "sh", file)
	for _, name := range []string{"exit-code", "plan-sha256"} {
		content, err := os.ReadFile(filepath.Join(results, name))
		if err == nil {
			result.results[name] = string(content)
		}
	}
	return result
}

// known are the values of parameters by their references, which begin with a prefix.
func (j job) known(prefix string, parameters []parameter) map[string]string {
	values := map[string]string{}
	for _, p := range parameters {
		values[prefix+p.Name] = p.Default + p.Value
		if given, set := j.inputs[p.Name]; set {
			values[prefix+p.Name] = given
		}
	}
	values[prefix+"repository"], values[prefix+"api-url"] = "orders/infrastructure", j.api
	values[prefix+"run-url"] = "https://github.example.com/orders/infrastructure/actions/runs/4711"
	return values
}

func onTekton(t *testing.T, j job) ended {
	t.Helper()
	var task struct {
		Spec struct {
			Params []parameter
			Steps  []struct {
				Script, WorkingDir string
				Env                []variable
			}
		}
	}
	read(t, manifests+"tekton/task.yaml", &task)
	s := task.Spec.Steps[0]
	if s.WorkingDir != "$(workspaces.plans.path)" || len(task.Spec.Steps) != 1 {
		t.Fatalf("the Task has other steps: %+v", task.Spec.Steps)
	}
	return j.container(t, s.Script, s.Env, regexp.MustCompile(`\$\((params\.[\w-]+)\)`), j.known("params.", task.Spec.Params))
}

func onArgo(t *testing.T, j job) ended {
	t.Helper()
	var w struct {
		Spec struct {
			Arguments struct{ Parameters []parameter }
			Templates []struct {
				Name   string
				Inputs struct{ Parameters []parameter }
				Script struct {
					Source string
					Env    []variable
				}
			}
		}
	}
	read(t, manifests+"argo-workflows/workflow-template.yaml", &w)
	last := w.Spec.Templates[len(w.Spec.Templates)-1]
	values := j.known("workflow.parameters.", w.Spec.Arguments.Parameters)
	maps.Copy(values, j.known("inputs.parameters.", last.Inputs.Parameters))
	return j.container(t, last.Script.Source, last.Script.Env, regexp.MustCompile(`\{\{([\w.-]+)\}\}`), values)
}

// onGitLab runs the script of the hidden job, with the variables that GitLab predefines in a pipeline of a merge request.
func onGitLab(t *testing.T, j job) ended {
	t.Helper()
	var file map[string]struct {
		Variables map[string]string
		Script    []string
		Artifacts struct{ Reports struct{ Dotenv string } }
	}
	read(t, manifests+"gitlab/kubectl-fdb.yml", &file)
	of := file[".kubectl-fdb"]
	environment := map[string]string{
		"GITLAB_CI": "true", "CI_API_V4_URL": j.api, "CI_PROJECT_ID": "4711", "KUBECTL_FDB_TOKEN": token,
		"CI_JOB_URL": "https://github.example.com/orders/infrastructure/actions/runs/4711",
	}
	maps.Copy(environment, of.Variables)
	for name, variable := range map[string]string{
		"mode": "MODE", "cluster": "CLUSTER", "namespace": "NAMESPACE", "arguments": "ARGUMENTS", "plan-sha256": "PLAN_SHA256",
		"changes": "CHANGES", "timeout": "TIMEOUT", "reason": "REASON", "pull-request": "CI_MERGE_REQUEST_IID", "token": "KUBECTL_FDB_TOKEN",
	} {
		if given, set := j.inputs[name]; set {
			environment[variable] = given
		}
	}
	outputs := filepath.Join(j.dir, of.Artifacts.Reports.Dotenv)
	if err := os.RemoveAll(outputs); err != nil {
		t.Fatal(err)
	}
	result := j.shell(t, environment, "sh", "-c", strings.Join(of.Script, "\n"))
	content, _ := os.ReadFile(outputs)
	for line := range strings.Lines(string(content)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		result.results[strings.ReplaceAll(strings.ToLower(name), "_", "-")] = value
	}
	return result
}

// failure is what the fake writes to stderr.
const failure = "error: dial tcp 10.0.0.1:6443: refused"

// fake writes a kubectl-fdb that prints a text and ends with an exit code. It records its arguments.
func fake(t *testing.T, dir, output string, code string) {
	t.Helper()
	script := "#!/bin/sh\nprintf '%s\\n' \"$@\" >'" + dir + "/arguments'\ncat '" + dir + "/output'\necho '" + failure + "' >&2\nexit " + code + "\n"
	for name, content := range map[string]string{"kubectl-fdb": script, "output": output} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
}

// arguments are those of the last run of the fake.
func arguments(t *testing.T, dir string) []string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "arguments"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(content)), "\n")
}

// given is a job for pull request 12.
func given(t *testing.T, g *gitHub, mode string, more map[string]string) job {
	t.Helper()
	j := job{inputs: map[string]string{"mode": mode, "cluster": "sample", "pull-request": "12"}, api: g.URL, dir: t.TempDir(), program: t.TempDir()}
	maps.Copy(j.inputs, more)
	return j
}

func samplePlan(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile("testdata/plan.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSpace(content))
}
