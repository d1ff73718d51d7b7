package safety

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

func TestTheTaintRuleThatExpiresFirstIsDue(t *testing.T) {
	c := &v1beta2.FoundationDBCluster{}
	for key, seconds := range map[string]int64{"repair": 60, "drain": 30} {
		c.Spec.AutomationOptions.Replacements.TaintReplacementOptions = append(c.Spec.AutomationOptions.Replacements.TaintReplacementOptions,
			v1beta2.TaintReplacementOption{Key: new(key), DurationInSeconds: new(seconds)})
	}
	added := time.Unix(1_700_000_000, 0).UTC()
	tests := map[string]struct {
		taints []string
		want   time.Duration
		ok     bool
	}{
		"no taint":               {nil, 0, false},
		"a taint without a rule": {[]string{"other"}, 0, false},
		"a taint with a rule":    {[]string{"repair"}, time.Minute, true},
		"two taints with rules":  {[]string{"repair", "drain"}, 30 * time.Second, true},
	}
	for name, tc := range tests {
		node := &corev1.Node{}
		for _, key := range tc.taints {
			node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: key, TimeAdded: new(metav1.NewTime(added))})
		}
		got, ok := TaintsDue(TaintClocks(c, node, &corev1.Pod{}, time.Time{}))
		if ok != tc.ok || (ok && got.Sub(added) != tc.want) {
			t.Errorf("%s: %s, %t; want %s, %t", name, got.Sub(added), ok, tc.want, tc.ok)
		}
	}
}
