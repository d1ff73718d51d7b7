package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestZonesAreNamedByLetters(t *testing.T) {
	got := map[int]string{}
	for _, n := range []int{0, 1, 25, 26, 27} {
		got[n] = zoneName(n)
	}
	want := map[int]string{0: "zone-a", 1: "zone-b", 25: "zone-z", 26: "zone-aa", 27: "zone-ab"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTaintsAreParsedInKubectlSyntax(t *testing.T) {
	got, err := parseTaint("a/b=c:NoSchedule")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(corev1.Taint{Key: "a/b", Value: "c", Effect: corev1.TaintEffectNoSchedule}, got); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{"a", "a=b", ":NoSchedule", "a:"} {
		if _, err := parseTaint(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func TestSandboxNeedsADirectoryAndNodes(t *testing.T) {
	if _, err := checkDir(""); err == nil {
		t.Error("no directory was accepted")
	}
	if _, err := (upOptions{nodes: 0, zones: 1}).nodeSpecs(); err == nil {
		t.Error("no nodes were accepted")
	}
	o := upOptions{nodes: 4, zones: 3, cpu: "1", memory: "1Gi", storage: "1Gi", pods: "10", labels: map[string]string{"a": "b"}}
	specs, err := o.nodeSpecs()
	if err != nil {
		t.Fatal(err)
	}
	var zones []string
	for _, s := range specs {
		zones = append(zones, s.Name+" "+s.Labels[corev1.LabelTopologyZone]+" "+s.Labels["a"])
	}
	if diff := cmp.Diff([]string{"node-1 zone-a b", "node-2 zone-b b", "node-3 zone-c b", "node-4 zone-a b"}, zones); diff != "" {
		t.Error(diff)
	}
}
