package pipelines

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// workflow is the part of a WorkflowTemplate in which templates refer to each other.
type workflow struct {
	Spec struct {
		Entrypoint, ServiceAccountName string
		AutomountServiceAccountToken   bool
		Arguments                      struct{ Parameters []parameter }
		Templates                      []workflowTemplate
	}
}

type workflowTemplate struct {
	Name    string
	Inputs  struct{ Parameters []parameter }
	Outputs struct {
		Parameters []struct {
			Name      string
			ValueFrom struct{ Path string }
		}
	}
	Steps  [][]workflowStep
	Script struct{ Env []variable }
}

type workflowStep struct {
	Name, Template, When string
	Arguments            struct{ Parameters []parameter }
}

func (w workflow) template(name string) (workflowTemplate, bool) {
	at := slices.IndexFunc(w.Spec.Templates, func(t workflowTemplate) bool { return t.Name == name })
	if at < 0 {
		return workflowTemplate{}, false
	}
	return w.Spec.Templates[at], true
}

// problems are the references of a workflow to steps, outputs and parameters that do not exist, and the
// outputs that the script does not write.
func (w workflow) problems() []string {
	var all []string
	known := map[string]bool{}
	for _, p := range w.Spec.Arguments.Parameters {
		known["workflow.parameters."+p.Name] = true
	}
	if _, found := w.template(w.Spec.Entrypoint); !found {
		all = append(all, "entrypoint "+w.Spec.Entrypoint)
	}
	for _, one := range w.Spec.Templates {
		all = append(all, w.problemsOf(one, known)...)
	}
	return all
}

func (w workflow) problemsOf(one workflowTemplate, global map[string]bool) (all []string) {
	known := map[string]bool{}
	for _, p := range one.Inputs.Parameters {
		known["inputs.parameters."+p.Name] = true
	}
	check := func(text string) {
		for _, match := range regexp.MustCompile(`\{\{([\w.-]+)\}\}`).FindAllStringSubmatch(text, -1) {
			if !known[match[1]] && !global[match[1]] {
				all = append(all, one.Name+": "+match[1])
			}
		}
	}
	results := ""
	for _, v := range one.Script.Env {
		check(v.Value)
		if v.Name == "RESULTS" {
			results = v.Value
		}
	}
	for _, p := range one.Outputs.Parameters {
		if p.ValueFrom.Path != results+"/"+p.Name {
			all = append(all, one.Name+": "+p.ValueFrom.Path)
		}
	}
	for _, group := range one.Steps {
		for _, step := range group {
			check(step.When)
			called, found := w.template(step.Template)
			if !found {
				all = append(all, one.Name+": template "+step.Template)
			}
			for _, p := range step.Arguments.Parameters {
				check(p.Value)
				if !slices.ContainsFunc(called.Inputs.Parameters, func(in parameter) bool { return in.Name == p.Name }) {
					all = append(all, one.Name+": input "+p.Name)
				}
			}
			for _, p := range called.Outputs.Parameters {
				known["steps."+step.Name+".outputs.parameters."+p.Name] = true
			}
		}
	}
	return all
}

func TestStepsOfTheWorkflowUseParametersAndResultsThatExist(t *testing.T) {
	content, err := os.ReadFile(manifests + "argo-workflows/workflow-template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for what, edit := range map[string][2]string{
		"":                         {},
		"another entrypoint":       {"entrypoint: change", "entrypoint: chang"},
		"a result of no step":      {"{{steps.plan.outputs.parameters.exit-code}} == 1", "{{steps.plans.outputs.parameters.exit-code}} == 1"},
		"a result of no template":  {"{{steps.plan.outputs.parameters.plan-sha256}}", "{{steps.plan.outputs.parameters.sha256}}"},
		"a result of a later step": {"          - name: mode\n            value: plan\n", "          - name: mode\n            value: \"{{steps.apply.outputs.parameters.exit-code}}\"\n"},
		"a file of another name":   {"/plan-sha256\n", "/sha256\n"},
		"another directory":        {"value: /tmp", "value: /results"},
		"no such parameter":        {"{{workflow.parameters.timeout}}", "{{workflow.parameters.limit}}"},
		"no such input":            {"          - name: mode\n            value: apply", "          - name: kind\n            value: apply"},
		"no such template":         {"template: approval", "template: approve"},
	} {
		text := strings.ReplaceAll(string(content), edit[0], edit[1])
		if what == "" {
			text = string(content)
		} else if text == string(content) {
			t.Errorf("%s: the workflow does not have %q", what, edit[0])
		}
		var w workflow
		if err := yaml.Unmarshal([]byte(text), &w); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if problems := w.problems(); (len(problems) > 0) != (what != "") {
			t.Errorf("%s: got %q", what, problems)
		}
	}
}

// rbac is an object of access.yaml.
type rbac struct {
	Kind      string
	Metadata  struct{ Name string }
	RoleRef   struct{ Kind, Name string }
	Subjects  []struct{ Kind, Name, Namespace string }
	Rules     []struct{ APIGroups, Resources, Verbs []string }
	Automount *bool `json:"automountServiceAccountToken"`
}

func objects(t *testing.T, path string) (all []rbac) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(content), "\n---\n") {
		var o rbac
		if err := yaml.Unmarshal([]byte(document), &o); err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	return all
}

// The account gives pods no token by default, and Argo's executor stores the results of a step with it.
func TestPodsOfTheWorkflowGetATokenAndMayStoreResults(t *testing.T) {
	var w workflow
	read(t, manifests+"argo-workflows/workflow-template.yaml", &w)
	for _, o := range objects(t, root+"/manifests/in-cluster/access.yaml") {
		if o.Kind == "ServiceAccount" && (o.Metadata.Name != w.Spec.ServiceAccountName || *o.Automount == w.Spec.AutomountServiceAccountToken) {
			t.Errorf("pods of %s get a token: %t; the workflow runs as %s, token: %t", o.Metadata.Name, *o.Automount, w.Spec.ServiceAccountName, w.Spec.AutomountServiceAccountToken)
		}
	}
	access := objects(t, manifests+"argo-workflows/access.yaml")
	if len(access) != 3 || len(access[0].Rules) != 1 || len(access[1].Subjects) != 1 {
		t.Fatalf("got %+v", access)
	}
	// A check reads backups: without the Role of reads it ends with 8.
	if reads := access[2]; reads.Kind != "RoleBinding" || reads.RoleRef.Kind != "Role" || reads.RoleRef.Name != objects(t, root+"/manifests/rbac/read.yaml")[0].Metadata.Name || !slices.Equal(reads.Subjects, access[1].Subjects) {
		t.Errorf("got %+v", reads)
	}
	rule, to := access[0].Rules[0], access[1].Subjects[0]
	if access[0].Kind != "Role" || !slices.Equal(rule.APIGroups, []string{"argoproj.io"}) || !slices.Equal(rule.Resources, []string{"workflowtaskresults"}) || !slices.Equal(rule.Verbs, []string{"create", "patch"}) {
		t.Errorf("got %+v", access[0])
	}
	if access[1].RoleRef.Kind != "Role" || access[1].RoleRef.Name != access[0].Metadata.Name || to.Kind != "ServiceAccount" || to.Name != w.Spec.ServiceAccountName {
		t.Errorf("got %+v", access[1])
	}
}
