package commands_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

const inCluster = "../../manifests/in-cluster"

func TestAllManifestsDecodeStrictly(t *testing.T) {
	for _, pattern := range []string{inCluster + "/*.yaml", "../../manifests/rbac/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, file := range files {
			commandstest.Manifests(t, file)
		}
	}
}

// podTemplates are the pods that the manifests run, by file.
func podTemplates(t *testing.T) map[string]corev1.PodTemplateSpec {
	t.Helper()
	deployment := commandstest.Manifests(t, inCluster+"/deployment.yaml")[0].(*appsv1.Deployment)
	cron := commandstest.Manifests(t, inCluster+"/cronjob.yaml")[0].(*batchv1.CronJob)
	return map[string]corev1.PodTemplateSpec{"deployment.yaml": deployment.Spec.Template, "cronjob.yaml": cron.Spec.JobTemplate.Spec.Template}
}

// detectorTemplate is the pod of the jobs of a failure detector, which no manifest has.
func detectorTemplate(t *testing.T) corev1.PodTemplateSpec {
	t.Helper()
	c := commandstest.NewCluster(t).Resource
	c.Spec.AutomationOptions.Replacements.FailureDetectionCronJob = &v1beta2.FailureDetectionCronJob{Enabled: new(true), Image: new("kubectl-fdb:1")}
	normalized, err := c.Normalized()
	if err != nil {
		t.Fatal(err)
	}
	job, _, err := objects.FailureDetector(normalized)
	if err != nil {
		t.Fatal(err)
	}
	return job.Spec.JobTemplate.Spec.Template
}

func TestInClusterPodsRunWithARestrictedSecurityContext(t *testing.T) {
	const longestAction = 4 * time.Minute
	templates := podTemplates(t)
	templates["the failure detector"] = detectorTemplate(t)
	for file, template := range templates {
		spec, container := template.Spec, template.Spec.Containers[0]
		s := container.SecurityContext
		for want, ok := range map[string]bool{
			"its own account":            spec.ServiceAccountName == "kubectl-fdb",
			"no root":                    ptr.Deref(spec.SecurityContext.RunAsNonRoot, false),
			"a seccomp profile":          spec.SecurityContext.SeccompProfile.Type == corev1.SeccompProfileTypeRuntimeDefault,
			"no new privileges":          !ptr.Deref(s.AllowPrivilegeEscalation, true),
			"a file system to read only": ptr.Deref(s.ReadOnlyRootFilesystem, false),
			"no capabilities":            slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) && len(s.Capabilities.Add) == 0,
			"requests":                   len(container.Resources.Requests) == 2,
			"time to finish an action":   time.Duration(ptr.Deref(spec.TerminationGracePeriodSeconds, 0))*time.Second > longestAction,
		} {
			if !ok {
				t.Errorf("%s has not %s", file, want)
			}
		}
	}
}

// The command lines of the manifests run, on the simulated cluster.
func TestTheCommandLinesOfTheManifestsRun(t *testing.T) {
	for file, template := range podTemplates(t) {
		t.Run(file, func(t *testing.T) {
			args := slices.Clone(template.Spec.Containers[0].Args)
			for i := range args {
				args[i] = strings.NewReplacer("$(NAMESPACE)", "fdb", "sample-cluster", "sample", "=:8080", "=127.0.0.1:0").Replace(args[i])
			}
			// The simulation is not read concurrently; TestTheDumpVolumeOfTheDeploymentExceedsTheDumpLimit has this flag.
			args = slices.DeleteFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--dump-dir=") })
			w := &commandstest.Watched{Given: commandstest.NewGiven(t)}
			if slices.Contains(args, "--watch") {
				if code := w.Run(args[2:]...); code != exit.ExitDone {
					t.Errorf("exit code %d: %s", code, &w.Err)
				}
			} else if code := w.Given.Run(args...); code != exit.ExitDone {
				t.Errorf("exit code %d: %s", code, &w.Err)
			}
		})
	}
}

func TestTheCommandLineOfTheFailureDetectorRuns(t *testing.T) {
	g, args := commandstest.Up(t), detectorTemplate(t).Spec.Containers[0].Args
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "$(NAMESPACE)", "fdb")
	}
	if code := g.Run(args...); code != exit.ExitDone {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	delete(g.Cluster.Pods, "sample-"+g.Storage()[0])
	if code := g.Run(args...); code != exit.ExitDone || !strings.Contains(g.Out.String(), "RecordFailures") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}

func TestTheDumpVolumeOfTheDeploymentExceedsTheDumpLimit(t *testing.T) {
	spec := podTemplates(t)["deployment.yaml"].Spec
	at := slices.IndexFunc(spec.Containers[0].VolumeMounts, func(m corev1.VolumeMount) bool {
		return slices.Contains(spec.Containers[0].Args, "--dump-dir="+m.MountPath)
	})
	if at < 0 {
		t.Fatalf("no mount for %v", spec.Containers[0].Args)
	}
	root := commands.NewRoot(commandstest.NewGiven(t).Environment())
	reconcile, _, err := root.Find([]string{"reconcile"})
	if err != nil {
		t.Fatal(err)
	}
	most := resource.MustParse(reconcile.Flag("dump-max-bytes").DefValue)
	for _, v := range spec.Volumes {
		if v.Name == spec.Containers[0].VolumeMounts[at].Name && (v.EmptyDir == nil || v.EmptyDir.SizeLimit.Cmp(most) <= 0) {
			t.Errorf("volume %+v, dumps of %s", v, &most)
		}
	}
}

func TestTheProbesUseTheServedPathsAndPort(t *testing.T) {
	container := podTemplates(t)["deployment.yaml"].Spec.Containers[0]
	if !slices.Contains(container.Args, "--metrics-addr=:8080") || container.Ports[0].Name != "metrics" || container.Ports[0].ContainerPort != 8080 {
		t.Errorf("%v on %v", container.Args, container.Ports)
	}
	for path, probe := range map[string]*corev1.Probe{"/healthz": container.LivenessProbe, "/readyz": container.ReadinessProbe} {
		if probe.HTTPGet.Path != path || probe.HTTPGet.Port != intstr.FromString("metrics") {
			t.Errorf("%+v, want %s", probe.HTTPGet, path)
		}
	}
}

func TestRoleBindingsReferToTheRolesOfTheManifests(t *testing.T) {
	var bound []string
	for _, o := range commandstest.Manifests(t, inCluster+"/access.yaml") {
		switch o := o.(type) {
		case *rbacv1.RoleBinding:
			bound = append(bound, o.RoleRef.Kind+" "+o.RoleRef.Name)
			checkSubjects(t, o.Subjects)
		case *rbacv1.ClusterRoleBinding:
			bound = append(bound, o.RoleRef.Kind+" "+o.RoleRef.Name)
			checkSubjects(t, o.Subjects)
		}
	}
	var there []string
	for _, file := range []string{"reconcile.yaml", "watch.yaml", "find-operators.yaml"} {
		switch o := commandstest.Manifests(t, "../../manifests/rbac/"+file)[0].(type) {
		case *rbacv1.Role:
			there = append(there, "Role "+o.Name)
		case *rbacv1.ClusterRole:
			there = append(there, "ClusterRole "+o.Name)
		}
	}
	if !slices.Equal(there, bound) {
		t.Errorf("bound to %v, there are %v", bound, there)
	}
}

func TestTheFailureDetectorRoleBindingMatchesItsServiceAccount(t *testing.T) {
	binding, ok := commandstest.Manifests(t, inCluster+"/failure-detector.yaml")[0].(*rbacv1.RoleBinding)
	role, is := commandstest.Manifests(t, "../../manifests/rbac/detect-failures.yaml")[0].(*rbacv1.Role)
	if !ok || !is || binding.RoleRef.Name != role.Name || detectorTemplate(t).Spec.ServiceAccountName != "kubectl-fdb" {
		t.Fatalf("got %+v and %+v", binding, role)
	}
	checkSubjects(t, binding.Subjects)
}

func checkSubjects(t *testing.T, subjects []rbacv1.Subject) {
	t.Helper()
	if want := []rbacv1.Subject{{Kind: "ServiceAccount", Name: "kubectl-fdb", Namespace: "fdb"}}; !slices.Equal(want, subjects) {
		t.Errorf("bound are %v", subjects)
	}
}
