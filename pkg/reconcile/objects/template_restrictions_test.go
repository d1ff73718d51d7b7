package objects

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// restricted is a cluster with this pod in the template of log processes, normalized.
func restricted(t *testing.T, edit func(*corev1.PodSpec)) *v1beta2.FoundationDBCluster {
	t.Helper()
	c := &v1beta2.FoundationDBCluster{}
	c.Name, c.Spec.Version = "sample", "7.3.79"
	template := &corev1.PodTemplateSpec{}
	edit(&template.Spec)
	c.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
		v1beta2.ProcessClassGeneral: {PodTemplate: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{AutomountServiceAccountToken: new(false)}}},
		v1beta2.ProcessClassLog:     {PodTemplate: template},
	}
	n, err := c.Normalized()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func volume(source corev1.VolumeSource) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) { s.Volumes = []corev1.Volume{{Name: "a", VolumeSource: source}} }
}

func TestRestrictionsForbidWhatTheOperatorForbids(t *testing.T) {
	const path = "spec.processes[log].podTemplate.spec."
	mounts := func(name string) []corev1.Container {
		return []corev1.Container{{Name: v1beta2.ContainerMain, VolumeMounts: []corev1.VolumeMount{{Name: name, MountPath: "/a"}}}}
	}
	tests := map[string]struct {
		r    TemplateRestrictions
		pod  func(*corev1.PodSpec)
		want []Forbidden
	}{
		"nothing is restricted": {TemplateRestrictions{}, func(s *corev1.PodSpec) { s.HostPID, s.HostIPC, s.HostNetwork = true, true, true }, nil},
		"a token that is mounted by default": {
			TemplateRestrictions{ForbidToken: true},
			func(*corev1.PodSpec) {},
			[]Forbidden{{path + "automountServiceAccountToken", "true, the default", FlagAllowToken, nil}},
		},
		"a token": {
			TemplateRestrictions{ForbidToken: true},
			func(s *corev1.PodSpec) { s.AutomountServiceAccountToken = new(true) },
			[]Forbidden{{path + "automountServiceAccountToken", "true", FlagAllowToken, nil}},
		},
		"no token":         {TemplateRestrictions{ForbidToken: true}, func(s *corev1.PodSpec) { s.AutomountServiceAccountToken = new(false) }, nil},
		"the host network": {TemplateRestrictions{ForbidHostNetwork: true}, func(s *corev1.PodSpec) { s.HostNetwork = true }, []Forbidden{{path + "hostNetwork", "true", FlagAllowHostNetwork, nil}}},
		"the host's PIDs":  {TemplateRestrictions{ForbidHostPID: true}, func(s *corev1.PodSpec) { s.HostPID = true }, []Forbidden{{path + "hostPID", "true", FlagAllowHostPID, nil}}},
		"the host's IPC":   {TemplateRestrictions{ForbidHostIPC: true}, func(s *corev1.PodSpec) { s.HostIPC = true }, []Forbidden{{path + "hostIPC", "true", FlagAllowHostIPC, nil}}},
		"none of the host": {TemplateRestrictions{ForbidHostNetwork: true, ForbidHostPID: true, ForbidHostIPC: true}, func(*corev1.PodSpec) {}, nil},
		"another account": {
			TemplateRestrictions{Accounts: []string{"a", "b"}},
			func(s *corev1.PodSpec) { s.ServiceAccountName = "c" },
			[]Forbidden{{path + "serviceAccountName", "c", FlagAllowedAccounts, []string{"a", "b"}}},
		},
		"another account, as the field was called": {
			TemplateRestrictions{Accounts: []string{"a"}},
			func(s *corev1.PodSpec) { s.DeprecatedServiceAccount = "c" },
			[]Forbidden{{path + "serviceAccount", "c", FlagAllowedAccounts, []string{"a"}}},
		},
		"an allowed account": {TemplateRestrictions{Accounts: []string{"a", "b"}}, func(s *corev1.PodSpec) { s.ServiceAccountName = "b" }, nil},
		"no account":         {TemplateRestrictions{Accounts: []string{"a"}}, func(*corev1.PodSpec) {}, nil},
		"a directory of the host": {
			TemplateRestrictions{VolumeSources: []string{"configMap", "secret"}},
			volume(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}),
			[]Forbidden{{path + "volumes[0]", "hostPath", FlagAllowedVolumeSources, []string{"configMap", "secret"}}},
		},
		"an allowed volume": {TemplateRestrictions{VolumeSources: []string{"configMap", "secret"}}, volume(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{}}), nil},
		"a volume of an unknown kind": {
			TemplateRestrictions{VolumeSources: []string{"secret"}},
			volume(corev1.VolumeSource{}),
			[]Forbidden{{path + "volumes[0]", "none", FlagAllowedVolumeSources, []string{"secret"}}},
		},
		"another mount": {
			TemplateRestrictions{VolumeMounts: []string{"a"}},
			func(s *corev1.PodSpec) { s.Containers = mounts("b") },
			[]Forbidden{{path + "containers[0].volumeMounts[0]", "b", FlagAllowedVolumeMounts, []string{"a"}}},
		},
		"another mount of an init container": {
			TemplateRestrictions{VolumeMounts: []string{"a"}},
			func(s *corev1.PodSpec) { s.InitContainers = mounts("b") },
			[]Forbidden{{path + "initContainers[0].volumeMounts[0]", "b", FlagAllowedVolumeMounts, []string{"a"}}},
		},
		"an allowed mount": {TemplateRestrictions{VolumeMounts: []string{"a"}}, func(s *corev1.PodSpec) { s.Containers = mounts("a") }, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := tc.r.OfCluster(restricted(t, tc.pod))
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			agents := &v1beta2.FoundationDBBackup{}
			if agents.Spec.PodTemplateSpec = &(corev1.PodTemplateSpec{}); len(tc.r.OfBackup(&v1beta2.FoundationDBBackup{})) > 0 {
				t.Error("a backup without a template is restricted")
			}
			tc.pod(&agents.Spec.PodTemplateSpec.Spec)
			if forbidden := tc.r.OfBackup(agents); len(forbidden) != len(tc.want) {
				t.Errorf("of a backup: %v, want %d", forbidden, len(tc.want))
			}
		})
	}
}

// The image of a failure detector is that of the user, so its account counts even without a template.
func TestRestrictionsCoverThePodOfTheFailureDetector(t *testing.T) {
	const path = "spec.automationOptions.replacements.failureDetectionCronJob.template.jobTemplate.spec.template.spec."
	tests := map[string]struct {
		r    TemplateRestrictions
		pod  func(*corev1.PodSpec)
		want []Forbidden
	}{
		"its own account": {
			TemplateRestrictions{Accounts: []string{"default"}},
			nil,
			[]Forbidden{{path + "serviceAccountName", "kubectl-fdb", FlagAllowedAccounts, []string{"default"}}},
		},
		"an account that is allowed": {TemplateRestrictions{Accounts: []string{"detector"}}, func(s *corev1.PodSpec) { s.ServiceAccountName = "detector" }, nil},
		"its own volume":             {TemplateRestrictions{VolumeSources: []string{"secret"}, VolumeMounts: []string{"tls"}}, nil, nil},
		"a volume of the template": {
			TemplateRestrictions{VolumeSources: []string{"secret"}},
			volume(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{}}),
			[]Forbidden{{path + "volumes[0]", "hostPath", FlagAllowedVolumeSources, []string{"secret"}}},
		},
		"the host's PIDs": {TemplateRestrictions{ForbidHostPID: true}, func(s *corev1.PodSpec) { s.HostPID = true }, []Forbidden{{path + "hostPID", "true", FlagAllowHostPID, nil}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := restricted(t, func(*corev1.PodSpec) {})
			job := &v1beta2.FailureDetectionCronJob{Enabled: new(true), Image: new("kubectl-fdb:1")}
			if tc.pod != nil {
				job.Template = &batchv1.CronJobSpec{}
				tc.pod(&job.Template.JobTemplate.Spec.Template.Spec)
			}
			c.Spec.AutomationOptions.Replacements.FailureDetectionCronJob = job
			got, err := tc.r.OfCluster(c)
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestRestrictionsAsFlagsForbidTheSame(t *testing.T) {
	all := TemplateRestrictions{
		ForbidToken: true, ForbidHostNetwork: true, ForbidHostPID: true, ForbidHostIPC: true,
		Accounts: []string{"a", "b"}, VolumeSources: []string{"secret"}, VolumeMounts: []string{"c"},
	}
	want := []string{
		"--allow-automount-service-account-token=false", "--allow-host-network=false", "--allow-host-pid=false", "--allow-host-ipc=false",
		"--allowed-service-account-names=a", "--allowed-service-account-names=b", "--allowed-additional-volume-sources=secret", "--allowed-additional-volume-mounts=c",
	}
	if diff := cmp.Diff(want, all.Args()); diff != "" {
		t.Error(diff)
	}
	if args := (TemplateRestrictions{}).Args(); len(args) > 0 || !(TemplateRestrictions{}).None() || all.None() {
		t.Errorf("without restrictions: %v", args)
	}
}
