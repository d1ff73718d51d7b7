package v1beta2

import "testing"

func TestATagOfAnotherVersionContradictsTheVersion(t *testing.T) {
	split := ImageTypeSplit
	tests := map[string]struct {
		main, sidecar []ImageConfig
		imageType     *ImageType
		want          string
	}{
		"no tag":                            {},
		"the tag of the version":            {main: []ImageConfig{{Tag: "7.3.79"}}},
		"a build of the version":            {main: []ImageConfig{{Tag: "7.3.79-custom"}}, sidecar: []ImageConfig{{Tag: "7.3.79-1"}}, imageType: &split},
		"a tag of another version":          {main: []ImageConfig{{Tag: "7.1.38"}}, want: "spec.mainContainer.imageConfigs[0].tag"},
		"a sidecar of another version":      {sidecar: []ImageConfig{{BaseImage: "x"}, {Tag: "7.3.77-1"}}, imageType: &split, want: "spec.sidecarContainer.imageConfigs[1].tag"},
		"a sidecar that is not used":        {sidecar: []ImageConfig{{Tag: "7.3.77-1"}}},
		"a tag for another version":         {main: []ImageConfig{{Version: "7.1.38", Tag: "7.1.38"}}},
		"the first tag decides":             {main: []ImageConfig{{Tag: "7.3.79"}, {Tag: "7.1.38"}}},
		"a tag without a version":           {main: []ImageConfig{{Tag: "latest"}}},
		"a tag that is a date":              {main: []ImageConfig{{Tag: "2026.1.2"}}},
		"a tag of a numbering of its own":   {main: []ImageConfig{{Tag: "1.2.3"}}},
		"a digest of another version":       {main: []ImageConfig{{Tag: "7.1.38@sha256:ab"}}, want: "spec.mainContainer.imageConfigs[0].tag"},
		"a suffix follows spec.version":     {main: []ImageConfig{{TagSuffix: "-custom"}}},
		"a tag for the version, of another": {main: []ImageConfig{{Version: "7.3.79", Tag: "7.3.77"}}, want: "spec.mainContainer.imageConfigs[0].tag"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := &FoundationDBCluster{Spec: FoundationDBClusterSpec{Version: "7.3.79", ImageType: tc.imageType}}
			c.Spec.MainContainer.ImageConfigs, c.Spec.SidecarContainer.ImageConfigs = tc.main, tc.sidecar
			got := ""
			if errs := c.ImageContradictions(); len(errs) > 0 {
				got = errs[0].Field
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
