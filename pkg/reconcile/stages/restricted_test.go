package stages

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

func TestRestrictedPassesBeginWithTheCheckOfTemplates(t *testing.T) {
	forbidden := objects.TemplateRestrictions{ForbidHostPID: true}
	for name, tc := range map[string]struct {
		given []plan.Stage
		r     objects.TemplateRestrictions
		want  bool
	}{
		"a whole pass":                        {Cluster(), forbidden, true},
		"replacements":                        {Replacing(), forbidden, true},
		"a detection":                         {Detecting(), forbidden, true},
		"the status alone":                    {Marking(), forbidden, true},
		"a pass without restrictions":         {Cluster(), objects.TemplateRestrictions{}, false},
		"what needs no spec, such as a pause": {[]plan.Stage{operations.PauseOperators("", 0, "")}, forbidden, false},
	} {
		t.Run(name, func(t *testing.T) {
			all := Restricted(tc.r, tc.given)
			if first := all[0].Name == plan.StageCheckTemplates; first != tc.want || len(all)-len(tc.given) != map[bool]int{true: 1}[tc.want] {
				t.Errorf("begins with %s and has %d stages of %d", all[0].Name, len(all), len(tc.given))
			}
		})
	}
}

func TestACheckOfTemplatesEndsThePassWithFieldValueAndRemedy(t *testing.T) {
	check := Restricted(objects.TemplateRestrictions{ForbidHostPID: true}, Cluster())[0]
	hostPID := func(class v1beta2.ProcessClass) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			settings := s.Cluster.Spec.Processes[class]
			template := s.Cluster.Settings(class).PodTemplate.DeepCopy()
			template.Spec.HostPID, settings.PodTemplate = true, template
			s.Cluster.Spec.Processes[class] = settings
		}
	}
	stagestest.Decides(t, check, map[string]stagestest.Decision{
		"goes on with allowed templates": {Given: func(*plan.Snapshot) {}},
		"ends a pass with the general template": {
			Given: hostPID(v1beta2.ProcessClassGeneral), Manual: true, Then: plan.EndPass,
			Holds: "spec.processes[general].podTemplate.spec.hostPID (true) is forbidden by --allow-host-pid=false; correct the pod template, or the flags of the run",
		},
		"ends a pass with the template of a class": {Given: hostPID(v1beta2.ProcessClassLog), Holds: "spec.processes[log].podTemplate.spec.hostPID (true)", Manual: true, Then: plan.EndPass},
	})
}
