package check

// Manifests is what is wrong with the manifests of a cluster, its backups and its restores, of which nothing may be stored yet.
// A report about them has the rules that a resource alone answers.
type Manifests struct {
	// OfCluster is true if the cluster has a manifest; otherwise only its backups and restores have.
	OfCluster bool
	// Undecoded is why the rules about the cluster cannot be evaluated; empty if they can.
	Undecoded string
	// Lost are the fields that the API server would drop, and Refused those that it would reject.
	Lost, Refused []FieldProblem
}

// FieldProblem is a field of a manifest that would not be stored as its author wrote it.
type FieldProblem struct {
	// Subject is the resource, and OfCluster is true if that is the cluster.
	Subject   string
	OfCluster bool
	// Field is its path, and Message names it and what is wrong.
	Field, Message string
}

// Add adds fields that would be dropped, and rejected.
func (m *Manifests) Add(lost, refused []FieldProblem) {
	m.Lost, m.Refused = append(m.Lost, lost...), append(m.Refused, refused...)
}

func isOfCluster(p FieldProblem) bool { return p.OfCluster }

func isOfBackups(p FieldProblem) bool { return !p.OfCluster }

func (m *Manifests) lost() (found []Finding) {
	for _, p := range m.Lost {
		found = append(found, Finding{Subjects: []string{p.Subject}, Field: p.Field, Message: p.Message})
	}
	return found
}

// refused returns the rejected fields of the selected resources.
func (m *Manifests) refused(selected func(FieldProblem) bool) (found []Finding) {
	if m == nil {
		return nil
	}
	for _, p := range m.Refused {
		if selected(p) {
			found = append(found, Finding{Subjects: []string{p.Subject}, Field: p.Field, Message: p.Message})
		}
	}
	return found
}

// haveCluster reports whether the cluster of the report exists, or has a manifest.
func (m *Manifests) haveCluster() bool { return m == nil || m.OfCluster }

// ofManifests are the rules whose findings are about manifests that cannot be decoded, too.
var ofManifests = []string{"CFG-001", "CFG-011"}

// selects reports whether a rule is one of the report.
func (m *Manifests) selects(r Rule) bool {
	switch {
	case m == nil:
		return true
	case m.OfCluster:
		return r.OfSpec
	default:
		return r.OfSpec && (r.Family() == "BACKUP" || named(r, ofManifests))
	}
}

// lacks returns why a rule cannot be evaluated; empty if it can.
func (m *Manifests) lacks(r Rule) string {
	if m == nil || r.Family() == "BACKUP" || named(r, ofManifests) {
		return ""
	}
	return m.Undecoded
}

// Place is where a manifest has a field.
type Place struct {
	// File is its file, "stdin", or the directory of a kustomization.
	File string
	// Line is 0 where it is unknown.
	Line int
	// Edit is a command that opens the file there; empty where none can.
	Edit string
}
