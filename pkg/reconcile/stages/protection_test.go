package stages

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/replacements"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/status"
)

// marking is a stage, and a cluster of which it marks storage-114 for removal.
type marking struct {
	stage plan.Stage
	given func(*plan.Snapshot)
}

const protected = v1beta2.ProcessGroupID("storage-114")

// markings has for each function that marks process groups the cases in which it does, by the path
// below pkg and the name of the function or variable.
func markings() map[string]map[string]marking {
	failed := func(s *plan.Snapshot) {
		s.Cluster.ProcessGroup(protected).SetCondition(v1beta2.ConditionMissingProcesses, stagestest.Noon.Add(-3*time.Hour))
	}
	tainted := stagestest.All(stagestest.Rule("drain", 0), func(s *plan.Snapshot) {
		s.Cluster.ProcessGroup(protected).SetCondition(v1beta2.ConditionNodeTaintReplacing, stagestest.Noon.Add(-time.Hour))
	})
	differs := func(s *plan.Snapshot) {
		s.Volumes["sample-storage-114-data"].Annotations[v1beta2.AnnotationLastAppliedSpec] = "other"
	}
	surplus := func(s *plan.Snapshot) {
		s.Cluster.Spec.ProcessCounts.Storage = 2
		stagestest.DropProcess(s, s.Cluster.ProcessGroup(protected))
	}
	onNode := func(s *plan.Snapshot) {
		name := s.Pod(s.Cluster.ProcessGroup(protected)).Spec.NodeName
		s.Nodes = map[string]*corev1.Node{name: {ObjectMeta: metav1.ObjectMeta{Name: name}}}
		failed(s) // the eviction rules do not apply
	}
	ids, nothing := []v1beta2.ProcessGroupID{protected}, func(*plan.Snapshot) {}
	return map[string]map[string]marking{
		"reconcile/stages/status/update_status_groups.go MarkIfListed": {
			"listed":                   {status.UpdateStatus, func(s *plan.Snapshot) { s.Cluster.Spec.ProcessGroupsToRemove = ids }},
			"listed without exclusion": {status.ReportStatus, func(s *plan.Snapshot) { s.Cluster.Spec.ProcessGroupsToRemoveWithoutExclusion = ids }},
		},
		"reconcile/stages/replacements/replace_misconfigured_pods.go misconfigured.decision": {
			"misconfigured": {replacements.ReplaceMisconfiguredPods(plan.Options{}), differs},
		},
		"reconcile/stages/replacements/replace_failed_pods.go ReplaceFailedPods": {
			"failed": {replacements.ReplaceFailedPods, failed}, "tainted": {replacements.ReplaceFailedPods, tainted},
		},
		"reconcile/stages/replacements/choose_removals.go ChooseRemovals": {"surplus": {replacements.ChooseRemovals, surplus}},
		"reconcile/stages/operations/replace_groups.go Replacement.mark": {
			"requested":                          {operations.ReplaceGroups(operations.Replacement{Groups: ids, Max: 1}), nothing},
			"on a drained node":                  {operations.ReplaceOn([]string{stagestest.NodeName(14)}, 1), onNode},
			"on a drained node, with all groups": {operations.ReplaceAllOn([]string{stagestest.NodeName(14)}, 1), onNode},
		},
		"reconcile/stages/operations/exclude_groups.go SkipExclusion": {
			"requested without exclusion": {operations.SkipExclusion(ids), func(s *plan.Snapshot) { s.Cluster.Spec.ProcessCounts.Storage = 2 }},
		},
		"reconcile/stages/operations/exclude_groups.go asMarked": {"requested exclusion": {operations.ExcludeGroups(ids), nothing}},
	}
}

// Whatever marks a process group for removal leaves those alone that the spec keeps.
func TestNoStageMarksKeptProcessGroupsForRemoval(t *testing.T) {
	for user, cases := range markings() {
		for name, m := range cases {
			t.Run(user+": "+name, func(t *testing.T) {
				s := stagestest.HealthyClusterOf(t, 4)
				s.Coordination.ExclusionsRead = true
				m.given(&s)
				if d := m.stage.Decide(s); !leaves(s, d) {
					t.Fatalf("without the list: %v, holds with %q", stagestest.Described(d), stagestest.Reason(d))
				}
				stagestest.Kept(protected)(&s)
				if d := m.stage.Decide(s); leaves(s, d) {
					t.Errorf("with the list: %v", stagestest.Described(d))
				}
			})
		}
	}
}

// leaves reports whether a decision marks or excludes the protected group.
func leaves(s plan.Snapshot, d plan.Decision) bool {
	for _, a := range d.Actions {
		if exclusion, is := a.(plan.Exclude); is && slices.Contains(exclusion.Groups, protected) {
			return true
		}
		if edit, is := a.(plan.Edit); is {
			s = edit.Apply(s)
		}
	}
	g := s.Cluster.ProcessGroup(protected)
	return g.IsMarkedForRemoval() || g.IsExcluded()
}

// What marks process groups is in the table above. A trial marks those of its simulated users.
func TestEveryFunctionThatMarksForRemovalIsListed(t *testing.T) {
	var users []string
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") ||
			strings.HasPrefix(name, "reconcile/plan/") || strings.HasPrefix(name, "forecast/trial/") || strings.Contains(name, "/stagestest/") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, declaration := range file.Decls {
			if marks(declaration) {
				users = append(users, name+" "+nameOf(declaration))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(users)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(markings())), users); diff != "" {
		t.Errorf("what marks process groups (-in the table +in the code):\n%s", diff)
	}
}

// marks reports whether a declaration makes the action, calls the method, or writes the field.
func marks(declaration ast.Decl) (found bool) {
	named := func(e ast.Expr, name string) bool {
		selector, is := e.(*ast.SelectorExpr)
		return is && selector.Sel.Name == name
	}
	ast.Inspect(declaration, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			found = found || named(n.Type, "MarkForRemoval")
		case *ast.CallExpr:
			found = found || named(n.Fun, "MarkForRemoval")
		case *ast.AssignStmt:
			found = found || slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return named(e, "RemovalTimestamp") })
		}
		return true
	})
	return found
}

func nameOf(declaration ast.Decl) string {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return d.Name.Name
		}
		receiver := d.Recv.List[0].Type
		if star, is := receiver.(*ast.StarExpr); is {
			receiver = star.X
		}
		return fmt.Sprintf("%s.%s", receiver, d.Name.Name)
	case *ast.GenDecl:
		if value, is := d.Specs[0].(*ast.ValueSpec); is {
			return value.Names[0].Name
		}
	}
	return "unknown"
}
