package v1beta2

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestEachImagePartComesFromTheFirstMatchingImageConfig(t *testing.T) {
	split := func(c *FoundationDBCluster) { c.Spec.ImageType = new(ImageTypeSplit) }
	rules := func(rules ...ImageConfig) func(*FoundationDBCluster) {
		return func(c *FoundationDBCluster) { c.Spec.MainContainer.ImageConfigs = rules }
	}
	main, sidecar := corev1.Container{Name: ContainerMain}, corev1.Container{Name: ContainerSidecar}
	tests := map[string]struct {
		given     []func(*FoundationDBCluster)
		container corev1.Container
		want      string
	}{
		"unified main":                         {nil, main, "foundationdb/fdb-kubernetes-monitor:7.3.79"},
		"unified sidecar":                      {nil, sidecar, "foundationdb/fdb-kubernetes-monitor:7.3.79"},
		"split main":                           {[]func(*FoundationDBCluster){split}, main, "foundationdb/foundationdb:7.3.79"},
		"split sidecar":                        {[]func(*FoundationDBCluster){split}, sidecar, "foundationdb/foundationdb-kubernetes-sidecar:7.3.79-1"},
		"split init":                           {[]func(*FoundationDBCluster){split}, corev1.Container{Name: ContainerInit}, "foundationdb/foundationdb-kubernetes-sidecar:7.3.79-1"},
		"a rule for all":                       {[]func(*FoundationDBCluster){rules(ImageConfig{BaseImage: "a/b"})}, main, "a/b:7.3.79"},
		"unified sidecar takes the main rules": {[]func(*FoundationDBCluster){rules(ImageConfig{BaseImage: "a/b"})}, sidecar, "a/b:7.3.79"},
		"split sidecar does not":               {[]func(*FoundationDBCluster){split, rules(ImageConfig{BaseImage: "a/b"})}, sidecar, "foundationdb/foundationdb-kubernetes-sidecar:7.3.79-1"},
		"rules of other versions do not count": {[]func(*FoundationDBCluster){rules(ImageConfig{Version: "7.3.78", BaseImage: "a/b"}, ImageConfig{TagSuffix: "-x"})}, main, "foundationdb/fdb-kubernetes-monitor:7.3.79-x"},
		"each part from its first rule":        {[]func(*FoundationDBCluster){rules(ImageConfig{Version: "7.3.79", TagSuffix: "-1"}, ImageConfig{BaseImage: "a/b", TagSuffix: "-2"}, ImageConfig{BaseImage: "c/d"})}, main, "a/b:7.3.79-1"},
		"a whole tag beats a suffix":           {[]func(*FoundationDBCluster){rules(ImageConfig{TagSuffix: "-1"}, ImageConfig{Tag: "stable"})}, main, "foundationdb/fdb-kubernetes-monitor:stable"},
		"the pod template is the first rule":   {[]func(*FoundationDBCluster){rules(ImageConfig{BaseImage: "a/b"})}, corev1.Container{Name: ContainerMain, Image: "host:5000/c/d"}, "host:5000/c/d:7.3.79"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := cluster(tt.given...)
			got, err := c.Image(tt.container, "7.3.79")
			if err != nil || got != tt.want {
				t.Errorf("got %s %v, want %s", got, err, tt.want)
			}
			normal, err := c.Normalized()
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := normal.Image(tt.container, "7.3.79"); got != tt.want {
				t.Errorf("normalized: got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestAContainerImageInATemplateMustNotHaveATagOrDigest(t *testing.T) {
	for _, image := range []string{"a/b:1", "host:5000/a/b:1", "a/b@sha256:0123", "b:1"} {
		if _, err := cluster().Image(corev1.Container{Name: ContainerMain, Image: image}, "7.3.79"); err == nil || !strings.Contains(err.Error(), image) {
			t.Errorf("%s: got error %v", image, err)
		}
	}
}

func TestTheImageVersionFollowsTheRunningVersionDuringAnUpgrade(t *testing.T) {
	tests := map[string]struct {
		running, desired, image string
		incompatible            bool
	}{
		"no database yet":               {"", "7.3.79", "7.3.79", false},
		"no upgrade":                    {"7.3.79", "7.3.79", "7.3.79", false},
		"a patch release":               {"7.3.70", "7.3.79", "7.3.79", false},
		"back to a patch release":       {"7.3.79", "7.3.70", "7.3.70", false},
		"a minor release":               {"7.1.67", "7.3.79", "7.1.67", true},
		"from a candidate":              {"7.3.79-rc1", "7.3.79", "7.3.79-rc1", true},
		"from a version we cannot read": {"7.3", "7.3.79", "7.3", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := cluster(func(c *FoundationDBCluster) { c.Spec.Version, c.Status.RunningVersion = tt.desired, tt.running })
			if got := c.ImageVersion(); got != tt.image {
				t.Errorf("got images of %s, want %s", got, tt.image)
			}
			if got := c.IsBeingUpgradedIncompatibly(); got != tt.incompatible {
				t.Errorf("incompatible: got %v", got)
			}
		})
	}
}
