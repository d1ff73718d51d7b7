package v1beta2

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestFieldsOfEarlierVersionsAreLostWithTheirSuccessors(t *testing.T) {
	tests := map[string]struct {
		spec string
		want []LostField
	}{
		"a manifest of v1beta1": {`{"version":"7.3.79","volumeSize":"16G","customParameters":["a=1"],"processCounts":{"stateless":-1},
			"mainContainer":{"imageName":"i","enableTls":true,"env":[{"name":"A"}]},"faultDomain":{"key":"foundationdb.org/none"}}`, []LostField{
			{"spec.customParameters", "spec.processes.general.customParameters"},
			{"spec.mainContainer.env", podSettings + ".containers[foundationdb].env"},
			{"spec.mainContainer.imageName", "spec.mainContainer.imageConfigs[].baseImage"},
			{"spec.volumeSize", "spec.processes.general.volumeClaimTemplate.spec.resources.requests.storage"},
		}},
		"an old list that is a string": {`{"pendingRemovals":"a"}`, []LostField{{"spec.pendingRemovals", "spec.processGroupsToRemove"}}},
		"an invented field":            {`{"automationOptions":{"replacementsImmediately":1}}`, []LostField{{Path: "spec.automationOptions.replacementsImmediately"}}},
		"fields of pods": {`{"processes":{"general":{"podTemplate":{"spec":{"containers":[{"name":"foundationdb","resources":{"requests":{"cpu":"1"}},"imagee":"i"}]}},
			"volumeClaimTemplate":{"spec":{"resources":{"requests":{"storage":"1Gi"}}}}}}}`, []LostField{{Path: "spec.processes.general.podTemplate.spec.containers[0].imagee"}}},
		"nothing is lost": {`{"version":"7.3.79","databaseConfiguration":{"redundancy_mode":"double","regions":[{"datacenters":[{"id":"a"}]}]},"skip":false}`, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := &FoundationDBCluster{}
			c.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: `{"spec":` + tc.spec + `}`}
			if diff := cmp.Diff(tc.want, c.LostFields()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
