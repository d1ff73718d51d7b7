package replacements

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// wants changes the spec of the process groups of a class; general is all classes without settings of
// their own.
func wants(class v1beta2.ProcessClass, edit func(*v1beta2.ProcessSettings)) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		settings := s.Cluster.Settings(class)
		settings.PodTemplate = settings.PodTemplate.DeepCopy()
		edit(&settings)
		s.Cluster.Spec.Processes[class] = settings
	}
}

// podOf changes the pod template of a class.
func podOf(class v1beta2.ProcessClass, edit func(*corev1.PodSpec)) func(*plan.Snapshot) {
	return wants(class, func(p *v1beta2.ProcessSettings) { edit(&p.PodTemplate.Spec) })
}

func anyChange(spec *corev1.PodSpec) { spec.PriorityClassName = "high" }

func volumeSize(size string) func(*plan.Snapshot) {
	return wants("storage", func(p *v1beta2.ProcessSettings) {
		p.VolumeClaimTemplate = &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}},
		}}
	})
}

func requests(spec *corev1.PodSpec, container, cpu, memory string) {
	for i := range spec.Containers {
		if spec.Containers[i].Name == container {
			spec.Containers[i].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
		}
	}
}

func claimWith(edit func(*corev1.PersistentVolumeClaim)) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) { edit(s.Volumes[stagestest.FirstOf(*s, "storage").PVCName(s.Cluster)]) }
}

func strategy(u v1beta2.PodUpdateStrategy) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) { s.Cluster.Spec.AutomationOptions.PodUpdateStrategy = u }
}

func replaceWhenResourcesChange(s *plan.Snapshot) {
	s.Cluster.Spec.ReplaceInstancesWhenResourcesChange = new(true)
}

func ownedOnly(s *plan.Snapshot) {
	s.Cluster.Spec.Labels.FilterOnOwnerReference = new(true) //nolint:staticcheck // specs that use it still have to work
}

const allStorage = "storage-114, storage-115, storage-116"

func TestWhichSpecChangesReplaceProcessGroups(t *testing.T) {
	const main, sidecar = v1beta2.ContainerMain, v1beta2.ContainerSidecar
	tests := map[string]struct {
		given func(*plan.Snapshot)
		// why begins with the reason, followed by the groups.
		why   string
		holds string
	}{
		"nothing of a cluster that matches its spec": {given: func(*plan.Snapshot) {}},

		// 1. PVCs
		"a group whose PVC should have another size": {given: volumeSize("64G"), why: "the spec of the PVC differs (" + allStorage + ")"},
		"not while its pod is missing":               {given: stagestest.All(volumeSize("64G"), stagestest.LosePod), why: "the spec of the PVC differs (storage-115, storage-116)"},
		"not while the PVC is missing":               {given: stagestest.All(volumeSize("64G"), stagestest.LoseClaim), why: "the spec of the PVC differs (storage-115, storage-116)"},
		"a group whose PVC has another name": {
			given: func(s *plan.Snapshot) {
				name := stagestest.FirstOf(*s, "storage").PVCName(s.Cluster)
				s.Volumes["elder"] = s.Volumes[name]
				s.Volumes["elder"].Name = "elder"
				delete(s.Volumes, name)
			}, why: "the PVC has another name (storage-114)",
		},
		"not for a second PVC beside the right one": {
			given: func(s *plan.Snapshot) {
				s.Volumes["elder"] = s.Volumes[stagestest.FirstOf(*s, "storage").PVCName(s.Cluster)].DeepCopy()
				s.Volumes["elder"].Name = "elder"
			},
		},
		"not for a PVC that is another group's by its labels": {
			given: claimWith(func(c *corev1.PersistentVolumeClaim) {
				c.Labels[v1beta2.LabelProcessGroupID] = "dc2-storage-114"
				c.Annotations[v1beta2.AnnotationLastAppliedSpec] = "other"
			}),
		},
		"not for a PVC that is not owned where ownership counts": {given: stagestest.All(volumeSize("64G"), ownedOnly, func(s *plan.Snapshot) {
			for _, claim := range s.Volumes {
				claim.OwnerReferences = nil
			}
		})},
		"for one that is owned where ownership counts": {given: stagestest.All(volumeSize("64G"), ownedOnly), why: "the spec of the PVC differs (" + allStorage + ")"},
		"not for a PVC without the hash of its spec": {
			given: claimWith(func(c *corev1.PersistentVolumeClaim) { delete(c.Annotations, v1beta2.AnnotationLastAppliedSpec) }),
			holds: "storage-114: PVC sample-storage-114-data has no annotation with the hash of its spec",
		},
		"not for a PVC of a class that has none": {given: func(s *plan.Snapshot) {
			s.Volumes["stray"] = s.Volumes[stagestest.FirstOf(*s, "storage").PVCName(s.Cluster)].DeepCopy()
			s.Volumes["stray"].Name = "stray"
			s.Volumes["stray"].Labels[v1beta2.LabelProcessGroupID] = string(stagestest.FirstOf(*s, "stateless").ProcessGroupID)
		}},
		"not for labels of a PVC": {given: claimWith(func(c *corev1.PersistentVolumeClaim) { c.Labels["theirs"] = "1" })},

		// 2. pods that are missing
		"no group without a pod": {given: stagestest.All(strategy(v1beta2.PodUpdateStrategyReplace), podOf("storage", anyChange), stagestest.LosePod), why: "the pod spec differs, and spec.automationOptions.podUpdateStrategy is Replace (storage-115, storage-116)"},

		// 3. IDs
		"every group when the prefix changes": {given: func(s *plan.Snapshot) {
			s.Cluster.Spec.ProcessGroupIDPrefix = "dc1"
			s.Cluster.Status.ProcessGroups = s.Cluster.Status.ProcessGroups[13:]
		}, why: "the prefix of process group IDs differs (" + allStorage + ")"},
		"not a group with an invalid ID": {given: func(s *plan.Snapshot) {
			g := stagestest.FirstOf(*s, "storage")
			pod := s.Pod(g)
			g.ProcessGroupID = "storage_114"
			s.Pods[g.PodName(s.Cluster)] = pod
		}, holds: "storage_114"},

		// 4. public IPs
		"pods whose address should come from a service": {given: func(s *plan.Snapshot) {
			stagestest.PublicIPFromService(s)
			s.Cluster.Status.ProcessGroups = s.Cluster.Status.ProcessGroups[13:14]
		}, why: "the public IP comes from the pod and not from the service (storage-114)"},
		"pods whose address should come from themselves": {
			given: stagestest.PodWith(func(p *corev1.Pod) { p.Annotations[v1beta2.AnnotationPublicIPSource] = "service" }),
			why:   "the public IP comes from the service and not from the pod (storage-114)",
		},
		"not pods that are older than the note about addresses": {given: stagestest.PodWith(func(p *corev1.Pod) { delete(p.Annotations, v1beta2.AnnotationPublicIPSource) })},

		// 5. servers per pod
		"storage pods that should run two servers": {given: func(s *plan.Snapshot) { s.Cluster.Spec.StorageServersPerPod = 2 }, why: "the pod runs 1 fdbserver process and not 2 (" + allStorage + ")"},
		"not a pod with an invalid number": {given: stagestest.PodWith(func(p *corev1.Pod) {
			p.Spec.Containers[0].Env = append(p.Spec.Containers[0].Env, corev1.EnvVar{Name: "STORAGE_SERVERS_PER_POD", Value: "two"})
		}), holds: `is "two": must be a number of processes`},

		// 6. resources
		"pods that should have more CPU, where the spec replaces them": {
			given: stagestest.All(replaceWhenResourcesChange, podOf("storage", func(p *corev1.PodSpec) { requests(p, main, "2", "1Gi") })),
			why:   "the pod requests less CPU or memory than the spec (" + allStorage + ")",
		},
		"pods that should have more memory, where the spec replaces them": {
			given: stagestest.All(replaceWhenResourcesChange, podOf("storage", func(p *corev1.PodSpec) { requests(p, sidecar, "100m", "9Gi") })),
			why:   "the pod requests less CPU or memory than the spec (" + allStorage + ")",
		},
		"not those that should have more where the spec does not say so": {given: podOf("storage", func(p *corev1.PodSpec) { requests(p, main, "2", "9Gi") })},
		"not those that should have less": {given: stagestest.All(replaceWhenResourcesChange, podOf("storage", func(p *corev1.PodSpec) {
			requests(p, main, "100m", "128Mi")
			requests(p, sidecar, "10m", "12Mi")
		}))},
		"not those whose containers share the same differently": {given: stagestest.All(replaceWhenResourcesChange, func(s *plan.Snapshot) {
			for _, g := range s.Groups()[13:] {
				requests(&s.Pod(g).Spec, main, "1", "2Gi")
				requests(&s.Pod(g).Spec, sidecar, "1", "2Gi")
			}
		}, podOf("storage", func(p *corev1.PodSpec) {
			requests(p, main, "1500m", "3Gi")
			requests(p, sidecar, "500m", "1Gi")
		}))},
		"pods whose init containers should have more, where the spec replaces them": {
			given: stagestest.All(replaceWhenResourcesChange, podOf("storage", func(p *corev1.PodSpec) {
				p.InitContainers = append(p.InitContainers, corev1.Container{Name: "own", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}})
			})), why: "the pod requests less CPU or memory than the spec (" + allStorage + ")",
		},

		// 7. equal hashes
		"nothing below where the pod was made from the current spec": {given: stagestest.All(strategy(v1beta2.PodUpdateStrategyReplace), stagestest.PodWith(func(p *corev1.Pod) {
			p.Spec.NodeSelector = map[string]string{"a": "b"}
			p.Annotations[v1beta2.AnnotationImageType] = "split"
			p.Annotations[v1beta2.AnnotationIPFamily] = "6"
		}))},
		"not a pod without the hash of its spec": {
			given: stagestest.All(strategy(v1beta2.PodUpdateStrategyReplace), stagestest.PodWith(func(p *corev1.Pod) { delete(p.Annotations, v1beta2.AnnotationLastAppliedSpec) })),
			holds: "storage-114: pod sample-storage-114 has no annotation with the hash of its spec: add the process group to spec.processGroupsToRemove",
		},
		"nothing where the current spec makes no pod": {
			given: podOf("storage", func(p *corev1.PodSpec) { p.Containers = nil }), holds: "storage-114: build pod",
		},

		// 8. node selector
		"pods that should run on other nodes": {given: podOf("storage", func(p *corev1.PodSpec) { p.NodeSelector = map[string]string{"disk": "fast"} }), why: "the node selector differs (" + allStorage + ")"},
		"pods whose node selector has more than the spec, by a reason that is true whoever added it": {
			given: stagestest.All(podOf("storage", anyChange), func(s *plan.Snapshot) {
				for _, p := range s.Pods {
					p.Spec.NodeSelector = map[string]string{"pool": "databases"}
				}
			}),
			why: "the pod spec differs, and the pod has the node selector pool=databases, which the spec does not have: it was removed from the spec, or admission added it (" + allStorage + ")",
		},
		"not for an empty node selector": {given: podOf("storage", func(p *corev1.PodSpec) { p.NodeSelector = map[string]string{}; anyChange(p) })},

		// 9. image type
		"pods of every class with another image type": {given: func(s *plan.Snapshot) {
			for _, p := range s.Pods {
				p.Annotations[v1beta2.AnnotationImageType], p.Annotations[v1beta2.AnnotationLastAppliedSpec] = "split", "other"
			}
			s.Cluster.Status.ProcessGroups = s.Cluster.Status.ProcessGroups[12:14]
		}, why: "the image type is split and not unified (stateless-113, storage-114)"},
		"not storage pods with several servers for their image type": {given: func(s *plan.Snapshot) {
			s.Cluster.Spec.StorageServersPerPod = 2
			s.Cluster.Status.ProcessGroups = s.Cluster.Status.ProcessGroups[13:14]
			p := stagestest.FirstPod(s)
			p.Annotations[v1beta2.AnnotationImageType], p.Annotations[v1beta2.AnnotationLastAppliedSpec] = "split", "other"
			p.Spec.Containers[0].Env = append(p.Spec.Containers[0].Env, corev1.EnvVar{Name: "STORAGE_SERVERS_PER_POD", Value: "2"})
		}},

		// 10. IP family
		"pods that should use the other IP family": {given: func(s *plan.Snapshot) {
			s.Cluster.Spec.Routing.PodIPFamily = new(6)
			s.Cluster.Status.ProcessGroups = s.Cluster.Status.ProcessGroups[13:14]
		}, why: "the IP family differs (storage-114)"},
		"not a pod with an invalid family": {given: stagestest.PodWith(func(p *corev1.Pod) {
			p.Annotations[v1beta2.AnnotationIPFamily], p.Annotations[v1beta2.AnnotationLastAppliedSpec] = "5", "other"
		}), holds: "must be 0, 4 or 6"},

		// 11. strategy
		"log pods with another spec, by default":           {given: podOf("log", anyChange), why: "the pod spec differs, and spec.automationOptions.podUpdateStrategy is ReplaceTransactionSystem (log-101, log-102, log-103, log-104)"},
		"not storage pods with another spec, by default":   {given: podOf("storage", anyChange)},
		"storage pods with another spec where all count":   {given: stagestest.All(strategy(v1beta2.PodUpdateStrategyReplace), podOf("storage", anyChange)), why: "the pod spec differs, and spec.automationOptions.podUpdateStrategy is Replace (" + allStorage + ")"},
		"not log pods with another spec where none counts": {given: stagestest.All(strategy(v1beta2.PodUpdateStrategyDelete), podOf("log", anyChange))},
		"not those for their labels or annotations":        {given: stagestest.All(strategy(v1beta2.PodUpdateStrategyReplace), wants("storage", func(p *v1beta2.ProcessSettings) { p.PodTemplate.Labels = map[string]string{"a": "b"} }))},

		// 12. security context
		"not for another file group unless asked to": {given: podOf("storage", func(p *corev1.PodSpec) { p.SecurityContext = &corev1.PodSecurityContext{FSGroup: new(int64(1))} })},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			d := ReplaceMisconfiguredPods(plan.Options{}).Decide(s)
			if diff := cmp.Diff(tc.why, d.Why); diff != "" {
				t.Errorf("why (-want +got):\n%s\nholds with %q", diff, stagestest.Reason(d))
			}
			if got := stagestest.Reason(d); !strings.Contains(got, tc.holds) || (tc.holds == "") != (got == "") {
				t.Errorf("holds with %q, want %q", got, tc.holds)
			}
			if d.Hold != nil && !d.Hold.Manual {
				t.Error("an unknown difference does not need a user")
			}
		})
	}
}

func TestSecurityContextChangesReplaceGroupsIfEnabled(t *testing.T) {
	inPod := func(edit func(*corev1.PodSecurityContext)) func(*plan.Snapshot) {
		return podOf("storage", func(p *corev1.PodSpec) {
			p.SecurityContext = &corev1.PodSecurityContext{}
			edit(p.SecurityContext)
			anyChange(p)
		})
	}
	inMain := func(edit func(*corev1.SecurityContext)) func(*plan.Snapshot) {
		return podOf("storage", func(p *corev1.PodSpec) {
			for i := range p.Containers {
				if p.Containers[i].Name == v1beta2.ContainerMain {
					p.Containers[i].SecurityContext = &corev1.SecurityContext{}
					edit(p.Containers[i].SecurityContext)
				}
			}
			anyChange(p)
		})
	}
	runsAsOne := func(s *plan.Snapshot) {
		for _, p := range s.Pods {
			p.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: new(int64(1)), RunAsGroup: new(int64(1))}
		}
	}
	tests := map[string]struct {
		given    func(*plan.Snapshot)
		replaced bool
	}{
		"another file group":                         {inPod(func(c *corev1.PodSecurityContext) { c.FSGroup = new(int64(1)) }), true},
		"file group 0 where there was none":          {inPod(func(c *corev1.PodSecurityContext) { c.FSGroup = new(int64(0)) }), true},
		"another way to hand files over":             {inPod(func(c *corev1.PodSecurityContext) { c.FSGroupChangePolicy = new(corev1.FSGroupChangeAlways) }), true},
		"another user of the pod":                    {inPod(func(c *corev1.PodSecurityContext) { c.RunAsUser = new(int64(1)) }), true},
		"another group of the pod":                   {inPod(func(c *corev1.PodSecurityContext) { c.RunAsGroup = new(int64(1)) }), true},
		"another user of a container":                {inMain(func(c *corev1.SecurityContext) { c.RunAsUser = new(int64(1)) }), true},
		"another group of a container":               {inMain(func(c *corev1.SecurityContext) { c.RunAsGroup = new(int64(1)) }), true},
		"not another change of the security context": {inPod(func(c *corev1.PodSecurityContext) { c.RunAsNonRoot = new(true) }), false},
		"not another change of the pod":              {podOf("storage", anyChange), false},
		"not an empty context":                       {inPod(func(*corev1.PodSecurityContext) {}), false},
		"a user that is not given any more":          {stagestest.All(runsAsOne, podOf("storage", anyChange)), true},
		"not one that is given at the pod as before": {stagestest.All(runsAsOne, inPod(func(c *corev1.PodSecurityContext) { c.RunAsUser, c.RunAsGroup = new(int64(1)), new(int64(1)) })), false},
		"not a container that only the spec has": {podOf("storage", func(p *corev1.PodSpec) {
			p.Containers = append(p.Containers, corev1.Container{Name: "own", SecurityContext: &corev1.SecurityContext{RunAsUser: new(int64(7))}})
		}), false},
		"not a container that only the pod has": {stagestest.All(podOf("storage", anyChange), func(s *plan.Snapshot) {
			for _, p := range s.Pods {
				p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "injected", SecurityContext: &corev1.SecurityContext{RunAsUser: new(int64(7))}})
			}
		}), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			d := ReplaceMisconfiguredPods(plan.Options{ReplaceOnSecurityContextChange: true}).Decide(s)
			want := ""
			if tc.replaced {
				want = "the security context differs (" + allStorage + ")"
			}
			if diff := cmp.Diff(want, d.Why); diff != "" || (len(d.Actions) > 0) != tc.replaced {
				t.Errorf("%d actions, why (-want +got):\n%s", len(d.Actions), diff)
			}
			if d := ReplaceMisconfiguredPods(plan.Options{}).Decide(s); len(d.Actions) > 0 || d.Why != "" {
				t.Errorf("without the option: %s", d.Why)
			}
		})
	}
}
