package trial

import (
	"math/rand/v2"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// deadImage is an image that no node can pull.
const deadImage = "registry.example.com/fdb-kubernetes-monitr"

var imageProblems = []problem{
	{"image-missing", "the image of the spec cannot be pulled", 1, noGroup, func(h *History, _ *rand.Rand) {
		if !h.mayLose() || h.tried[h.w] != nil {
			return
		}
		h.w.DeadImages = map[string]bool{deadImage: true}
		h.edit(func(s *v1beta2.FoundationDBClusterSpec) {
			s.MainContainer.ImageConfigs = []v1beta2.ImageConfig{{BaseImage: deadImage}}
		})
		h.tried[h.w] = map[string]bool{}
		h.logf("spec: image %s", deadImage)
	}},
	{"image-corrected", "the image of the spec is corrected", 3, noGroup, func(h *History, _ *rand.Rand) { h.correctImage() }},
}

// correctImage takes the image that cannot be pulled out of the spec.
func (h *History) correctImage() {
	if h.tried[h.w] == nil {
		return
	}
	h.edit(func(s *v1beta2.FoundationDBClusterSpec) { s.MainContainer.ImageConfigs = nil })
	delete(h.tried, h.w)
	h.logf("spec: the image is corrected")
}
