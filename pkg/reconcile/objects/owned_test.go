package objects

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// everyArgument is a cluster that sets all arguments which a pass can set.
func everyArgument(t *testing.T, also ...given) *v1beta2.FoundationDBCluster {
	t.Helper()
	return sample(t, append(also, func(c *v1beta2.FoundationDBCluster) {
		c.Spec.DataCenter, c.Spec.DataHall = "dc1", "hall1"
		c.Spec.MainContainer.PeerVerificationRules = "S.CN=x"
		c.Spec.StorageServersPerPod, c.Spec.LogServersPerPod = 2, 2
		c.Spec.Routing.DefineDNSLocalityFields = new(true)
	})...)
}

func withParameter(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass, p string) *v1beta2.FoundationDBCluster {
	c = c.DeepCopy()
	settings := c.Spec.Processes[class]
	settings.CustomParameters = v1beta2.FoundationDBCustomParameters{v1beta2.FoundationDBCustomParameter(p)}
	c.Spec.Processes[class] = settings
	return c
}

// The command lines are the source: an argument that a pass begins to write is refused with no list to
// extend.
func TestEveryArgumentOfAGeneratedCommandLineIsRefusedAsCustomParameter(t *testing.T) {
	c, seen := everyArgument(t), map[string]bool{}
	for _, class := range []v1beta2.ProcessClass{v1beta2.ProcessClassStorage, v1beta2.ProcessClassStateless} {
		for _, imageType := range []v1beta2.ImageType{v1beta2.ImageTypeSplit, v1beta2.ImageTypeUnified} {
			for _, servers := range []int{1, 2} {
				line, err := CommandLine(c, Launch{Class: class, ImageType: imageType, Servers: servers}, 1, podVariables())
				if err != nil {
					t.Fatal(err)
				}
				for _, word := range strings.Fields(line)[1:] {
					name, _, _ := strings.Cut(strings.TrimPrefix(word, "--"), "=")
					seen[name] = true
				}
			}
		}
	}
	for name := range seen {
		for _, spelled := range []string{name, strings.ReplaceAll(name, "_", "-"), "--" + name, " " + strings.ToUpper(name) + " "} {
			if ValidateOwned(withParameter(c, v1beta2.ProcessClassStorage, spelled+"=other")) == nil {
				t.Errorf("%s=other is accepted", spelled)
			}
		}
		if ValidateOwned(withParameter(c, v1beta2.ProcessClassGeneral, name+"=other")) == nil {
			t.Errorf("%s=other is accepted for all classes", name)
		}
	}
	if len(seen) < 16 {
		t.Errorf("the generated command lines have %d arguments only: %v", len(seen), slices.Sorted(maps.Keys(seen)))
	}
}

func TestParametersThatAPassDoesNotSetAreAccepted(t *testing.T) {
	plain := sample(t)
	for _, p := range []string{
		"knob_min_available_space_ratio=0.01", "locality_dcid=dc1", "locality_data_hall=a", "locality_rack=$RACK", "trace_format=json", "memory=8GiB",
		"tls_certificate_file=/x", "tls_verify_peers=Check.Valid=1", "storage_memory=4GiB", "maxlogssize=1GiB",
	} {
		if err := ValidateOwned(withParameter(plain, v1beta2.ProcessClassStorage, p)); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
	for _, same := range []string{"locality_dcid=dc1", "locality_data_hall=hall1"} {
		if err := ValidateOwned(withParameter(everyArgument(t), v1beta2.ProcessClassGeneral, same)); err != nil {
			t.Errorf("%s repeats the spec: %v", same, err)
		}
	}
	for _, other := range []string{"machine_id=a", "datacenter-id=other", "seed_connection_string=a:b@c:1", "command=/bin/sh", "kill_on_configuration_change=true"} {
		if ValidateOwned(withParameter(everyArgument(t), v1beta2.ProcessClassGeneral, other)) == nil {
			t.Errorf("%s is accepted", other)
		}
	}
}

// A template that sets a variable wins over a pass: the variables of the pods are the source.
func TestVariablesThatIdentifyAProcessAreRefusedInATemplate(t *testing.T) {
	for _, imageType := range []v1beta2.ImageType{v1beta2.ImageTypeSplit, v1beta2.ImageTypeUnified} {
		c := everyArgument(t, func(c *v1beta2.FoundationDBCluster) { c.Spec.ImageType = &imageType })
		spec, err := PodSpec(c, storage1)
		if err != nil {
			t.Fatal(err)
		}
		refused := 0
		for container := range containers(spec) {
			for _, v := range container.Env {
				err := ValidateOwned(withVariable(c, container.Name, corev1.EnvVar{Name: v.Name, Value: "other"}))
				if free := slices.Contains(freeVariables, v.Name); (err == nil) != free {
					t.Errorf("%s, %s of %s: %v", imageType, v.Name, container.Name, err)
				} else if !free {
					refused++
				}
				if err := ValidateOwned(withVariable(c, container.Name, v)); v.ValueFrom != nil && err != nil {
					t.Errorf("%s, the same %s: %v", imageType, v.Name, err)
				}
			}
		}
		if refused < 8 {
			t.Errorf("%s: only %d variables are refused", imageType, refused)
		}
	}
	for name, accepted := range map[string]*v1beta2.FoundationDBCluster{
		"a variable of the user's own": withVariable(sample(t), v1beta2.ContainerMain, corev1.EnvVar{Name: "TZ", Value: "UTC"}),
		"the zone that the spec takes from the pod": withVariable(sample(t, func(c *v1beta2.FoundationDBCluster) { c.Spec.FaultDomain.ValueFrom = "$" + v1beta2.EnvZoneID }),
			v1beta2.ContainerMain, corev1.EnvVar{Name: v1beta2.EnvZoneID, Value: "a"}),
		"a variable of another container": withVariable(sample(t), "exporter", corev1.EnvVar{Name: v1beta2.EnvClusterFile, Value: "/x"}),
	} {
		if err := ValidateOwned(accepted); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if ValidateOwned(withVariable(sample(t), v1beta2.ContainerMain, corev1.EnvVar{Name: "STORAGE_SERVERS_PER_POD", Value: "2"})) == nil {
		t.Error("the number of processes of a pod is accepted from a template")
	}
}

func withVariable(c *v1beta2.FoundationDBCluster, name string, v corev1.EnvVar) *v1beta2.FoundationDBCluster {
	c = c.DeepCopy()
	settings := c.Settings(v1beta2.ProcessClassStorage)
	settings.PodTemplate = settings.PodTemplate.DeepCopy()
	own := container(settings.PodTemplate.Spec.Containers, name)
	if own == nil {
		own = container(settings.PodTemplate.Spec.InitContainers, name)
	}
	if own == nil {
		settings.PodTemplate.Spec.Containers = append(settings.PodTemplate.Spec.Containers, corev1.Container{Name: name})
		own = &settings.PodTemplate.Spec.Containers[len(settings.PodTemplate.Spec.Containers)-1]
	}
	own.Env = append(own.Env, v)
	c.Spec.Processes[v1beta2.ProcessClassStorage] = settings
	return c
}

func TestKeysThatAPassWritesAreRefusedInTheConfigMap(t *testing.T) {
	c := sample(t, func(c *v1beta2.FoundationDBCluster) { c.Spec.TrustedCAs = []string{"x"} })
	for _, imageType := range []v1beta2.ImageType{v1beta2.ImageTypeSplit, v1beta2.ImageTypeUnified} {
		c.Spec.ImageType = &imageType
		m, err := ConfigMap(c)
		if err != nil {
			t.Fatal(err)
		}
		for key := range m.Data {
			if ValidateOwned(withKey(c, key)) == nil {
				t.Errorf("key %s is accepted", key)
			}
		}
	}
	for _, key := range []string{"sidecar-conf", "mine", "ca-file"} {
		if err := ValidateOwned(withKey(sample(t), key)); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func withKey(c *v1beta2.FoundationDBCluster, key string) *v1beta2.FoundationDBCluster {
	c = c.DeepCopy()
	c.Spec.ConfigMap = &corev1.ConfigMap{Data: map[string]string{key: "other"}}
	return c
}

// Labels of a pass overwrite those of a template; an annotation that a pass reads back would be taken for
// its own record.
func TestRecordsOfPodsAreRefusedInATemplate(t *testing.T) {
	set := func(m metav1.ObjectMeta) error {
		c := sample(t)
		settings := c.Settings(v1beta2.ProcessClassLog)
		settings.PodTemplate = settings.PodTemplate.DeepCopy()
		settings.PodTemplate.ObjectMeta = m
		c.Spec.Processes[v1beta2.ProcessClassLog] = settings
		return ValidateOwned(c)
	}
	pod, err := Pod(sample(t), log1)
	if err != nil {
		t.Fatal(err)
	}
	RecordConfigMap(pod, "x")
	RecordPublicIP(pod, "1.2.3.4")
	for key := range pod.Annotations {
		if set(metav1.ObjectMeta{Annotations: map[string]string{key: "x"}}) == nil {
			t.Errorf("annotation %s is accepted", key)
		}
	}
	for _, key := range []string{v1beta2.AnnotationCurrentConfiguration, v1beta2.AnnotationEnvironment} {
		if set(metav1.ObjectMeta{Annotations: map[string]string{key: "{}"}}) == nil {
			t.Errorf("annotation %s is accepted", key)
		}
	}
	if set(metav1.ObjectMeta{Labels: map[string]string{v1beta2.LabelDistributionKey: "x"}}) == nil {
		t.Error("the distribution key is accepted")
	}
	if err := set(metav1.ObjectMeta{Labels: map[string]string{"team": "x"}, Annotations: map[string]string{"team": "x", v1beta2.AnnotationDelayShutdown: "1s"}}); err != nil {
		t.Error(err)
	}
}

// The unified monitor reads a list of arguments, so that its names are compared too.
func TestTheArgumentsOfAnyClusterAreThoseOfTheMonitorsConfiguration(t *testing.T) {
	c := everyArgument(t)
	m, err := ConfigMap(c)
	if err != nil {
		t.Fatal(err)
	}
	names := ArgumentsOfAnyCluster()
	for key, text := range m.Data {
		var configuration fdb.MonitorConfiguration
		if !strings.HasSuffix(key, "-json") || json.Unmarshal([]byte(text), &configuration) != nil {
			continue
		}
		for _, a := range configuration.Arguments {
			if name, _ := argumentOf(a); !names[name] {
				t.Errorf("%s: %s is unknown", key, name)
			}
		}
	}
}
