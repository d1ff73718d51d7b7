package objects

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

func TestMonitorConfigurationsInTheConfigMap(t *testing.T) {
	inUse := func(images []v1beta2.ImageType, storage, log []int) given {
		return func(c *v1beta2.FoundationDBCluster) {
			c.Status.ImageTypes, c.Status.StorageServersPerDisk, c.Status.LogServersPerDisk = images, storage, log
		}
	}
	tests := map[string]struct {
		given []given
		keys  []string
	}{
		"unified": {
			keys: []string{"fdbmonitor-conf-log-json", "fdbmonitor-conf-stateless-json", "fdbmonitor-conf-storage-json"},
		},
		"split": {
			given: []given{splitImage},
			keys:  []string{"fdbmonitor-conf-log", "fdbmonitor-conf-stateless", "fdbmonitor-conf-storage"},
		},
		"split on the way to two storage servers": {
			given: []given{splitImage, inUse(nil, []int{1, 2}, []int{1})},
			keys:  []string{"fdbmonitor-conf-log", "fdbmonitor-conf-stateless", "fdbmonitor-conf-storage", "fdbmonitor-conf-storage-density-2"},
		},
		"split with two log servers, for transaction too": {
			given: []given{splitImage, inUse(nil, []int{1}, []int{2}), func(c *v1beta2.FoundationDBCluster) { c.Spec.ProcessCounts.Transaction = 1 }},
			keys: []string{
				"fdbmonitor-conf-log-density-2", "fdbmonitor-conf-stateless", "fdbmonitor-conf-storage", "fdbmonitor-conf-transaction-density-2",
			},
		},
		"on the way from split to unified": {
			given: []given{inUse([]v1beta2.ImageType{v1beta2.ImageTypeSplit, v1beta2.ImageTypeUnified}, nil, nil)},
			keys: []string{
				"fdbmonitor-conf-log", "fdbmonitor-conf-log-json", "fdbmonitor-conf-stateless", "fdbmonitor-conf-stateless-json",
				"fdbmonitor-conf-storage", "fdbmonitor-conf-storage-json",
			},
		},
		"none for a class that the spec does not want": {
			given: []given{func(c *v1beta2.FoundationDBCluster) { c.Spec.ProcessCounts.Stateless = -1 }},
			keys:  []string{"fdbmonitor-conf-log-json", "fdbmonitor-conf-storage-json"},
		},
		"but still one while its groups drain": {
			given: []given{func(c *v1beta2.FoundationDBCluster) {
				c.Spec.ProcessCounts.Stateless = -1
				c.Status.ProcessGroups = []*v1beta2.ProcessGroupStatus{stateless1, storage1}
			}},
			keys: []string{"fdbmonitor-conf-log-json", "fdbmonitor-conf-stateless-json", "fdbmonitor-conf-storage-json"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m, err := ConfigMap(sample(t, tt.given...))
			if err != nil {
				t.Fatal(err)
			}
			want := slices.Sorted(slices.Values(append(tt.keys, KeyClusterFile, KeyRunningVersion)))
			if diff := cmp.Diff(want, slices.Sorted(maps.Keys(m.Data))); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
		})
	}
}

// hashOf is computed here manually: sorted keys, no blanks, a final newline.
func hashOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text+"\n"))) }

func TestConfigMapHashCoversWhatThePodUses(t *testing.T) {
	unconnected := func(c *v1beta2.FoundationDBCluster) { c.Status.ConnectionString = "" }
	storage := v1beta2.ProcessClassStorage
	tests := map[string]struct {
		given  []given
		launch Launch
		want   string
	}{
		"a split pod before there is a cluster file": {
			given:  []given{splitImage, unconnected},
			launch: Launch{Class: storage, ImageType: v1beta2.ImageTypeSplit, Servers: 1},
			want:   `{"cluster-file":"","fdbmonitor-conf-storage":"","running-version":"7.3.79"}`,
		},
		"trusted certificates and the user's sidecar configuration, nothing else of the user's": {
			given: []given{splitImage, unconnected, func(c *v1beta2.FoundationDBCluster) {
				c.Spec.TrustedCAs = []string{"<a>", "b"}
				c.Spec.ConfigMap = &corev1.ConfigMap{Data: map[string]string{"sidecar-conf": "s", "other": "o"}}
			}},
			launch: Launch{Class: storage, ImageType: v1beta2.ImageTypeSplit, Servers: 1},
			want:   `{"ca-file":"\u003ca\u003e\nb","cluster-file":"","fdbmonitor-conf-storage":"","running-version":"7.3.79","sidecar-conf":"s"}`,
		},
		"the user's data overrides ours": {
			given: []given{splitImage, unconnected, func(c *v1beta2.FoundationDBCluster) {
				c.Spec.ConfigMap = &corev1.ConfigMap{Data: map[string]string{"running-version": "mine"}}
			}},
			launch: Launch{Class: storage, ImageType: v1beta2.ImageTypeSplit, Servers: 1},
			want:   `{"cluster-file":"","fdbmonitor-conf-storage":"","running-version":"mine"}`,
		},
		"a pod with more servers uses its own key": {
			given:  []given{splitImage, unconnected, func(c *v1beta2.FoundationDBCluster) { c.Status.StorageServersPerDisk = []int{1, 3} }},
			launch: Launch{Class: storage, ImageType: v1beta2.ImageTypeSplit, Servers: 3},
			want:   `{"cluster-file":"","fdbmonitor-conf-storage-density-3":"","running-version":"7.3.79"}`,
		},
		"as in the operator, a draining class has no key in the hash though it has one in the map": {
			given: []given{splitImage, unconnected, func(c *v1beta2.FoundationDBCluster) {
				c.Spec.ProcessCounts.Storage = -1
				c.Status.ProcessGroups = []*v1beta2.ProcessGroupStatus{storage1}
			}},
			launch: Launch{Class: storage, ImageType: v1beta2.ImageTypeSplit, Servers: 1},
			want:   `{"cluster-file":"","running-version":"7.3.79"}`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ConfigMapHash(sample(t, tt.given...), tt.launch)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(hashOf(tt.want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestConfigMapHashOfOneClassIgnoresTheOthers(t *testing.T) {
	hashes := func(c *v1beta2.FoundationDBCluster) (storage, log string) {
		t.Helper()
		var hash [2]string
		for i, class := range []v1beta2.ProcessClass{v1beta2.ProcessClassStorage, v1beta2.ProcessClassLog} {
			got, err := ConfigMapHash(c, DesiredLaunch(c, class))
			if err != nil {
				t.Fatal(err)
			}
			hash[i] = got
		}
		return hash[0], hash[1]
	}
	storageBefore, logBefore := hashes(sample(t))
	storageAfter, logAfter := hashes(sample(t, settings(v1beta2.ProcessClassLog, v1beta2.ProcessSettings{
		CustomParameters: v1beta2.FoundationDBCustomParameters{"knob_a=1"},
	})))
	if storageBefore != storageAfter {
		t.Error("a log parameter changed the hash of storage pods")
	}
	if logBefore == logAfter {
		t.Error("a log parameter did not change the hash of log pods")
	}
}

func TestTheConfigMapContainsTheDesiredMonitorConfiguration(t *testing.T) {
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			c := sample(t, kind.given...)
			launch := DesiredLaunch(c, kind.group.ProcessClass)
			launch.ImageType = v1beta2.ImageTypeUnified // the split image's monitor reads another form
			c.Status.ImageTypes = append(c.Status.ImageTypes, launch.ImageType)
			m, err := ConfigMap(c)
			if err != nil {
				t.Fatal(err)
			}
			got, err := fdb.ParseMonitorConfiguration([]byte(m.Data[monitorKey(launch)]))
			if err != nil {
				t.Fatal(err)
			}
			want, err := MonitorConfiguration(c, launch)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-wanted +read):\n%s", diff)
			}
		})
	}
}
