package planned

// ProposedWay is how a change of a resource would be stored.
type ProposedWay string

// The ways of storing a change.
const (
	// ProposedCreate creates the resource.
	ProposedCreate ProposedWay = "create"
	// ProposedApply changes it as kubectl apply does: by a comparison with the manifest that was applied last.
	ProposedApply ProposedWay = "apply"
	// ProposedServerSide is a server-side apply of the field manager that has applied the resource before.
	ProposedServerSide ProposedWay = "server-side-apply"
	// ProposedPatch changes single fields.
	ProposedPatch ProposedWay = "patch"
)

// Proposed is a change of the resource that its plan is made for, and that nothing has stored yet.
type Proposed struct {
	// Source is a file, "stdin", a directory of a kustomization, or the flags that change single fields.
	Source string `json:"source"`
	// Way is how the change would be stored.
	Way ProposedWay `json:"way"`
	// Manager is the field manager of a server-side apply; absent otherwise.
	Manager string `json:"manager,omitempty"`
	// New is true for a resource that does not exist yet.
	New bool `json:"new,omitempty"`
	// AdmissionUnknown is true without a dry run of an API server: its defaults and refusals are not in the plan.
	AdmissionUnknown bool `json:"admissionUnknown,omitempty"`
	// Fields are the fields of the spec that would change; none for a new resource.
	Fields []ProposedField `json:"fields"`
	// Owners are other field managers that have set fields which would change, and may set them back; absent for none.
	Owners []ProposedOwner `json:"owners,omitempty"`
}

// ProposedOwner is a field manager with the fields of a change that it has set.
type ProposedOwner struct {
	Manager string   `json:"manager"`
	Fields  []string `json:"fields"`
}

// ProposedField is a field of a spec that would change.
type ProposedField struct {
	Path string `json:"path"`
	// From is null for a field that is not set now, and To for one that would be removed; what is no text is JSON.
	From *string `json:"from"`
	To   *string `json:"to"`
}
