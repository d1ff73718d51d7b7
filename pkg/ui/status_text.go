package ui

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/distribution"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// StatusOptions is how a status is printed.
type StatusOptions struct {
	Paint
	// Wide adds each coordinator and the messages of the database.
	Wide bool
	// Absolute shows times instead of ages.
	Absolute bool
	// Now is what ages are counted to.
	Now time.Time
	// Sections are those to print; nil for all, or for none below a map.
	Sections []string
	// Map is printed above the sections; nil for none.
	Map *inspect.Map
}

// statusSections are the sections of a status by name, in their order.
var statusSections = []struct {
	name  string
	print func(*page, inspect.StatusView)
}{
	{"database", func(p *page, v inspect.StatusView) { p.database(v.Database) }},
	{"fault-tolerance", func(p *page, v inspect.StatusView) { p.tolerance(v.FaultTolerance) }},
	{"coordinators", func(p *page, v inspect.StatusView) { p.coordinators(v.Coordinators) }},
	{"process-groups", func(p *page, v inspect.StatusView) { p.groups(v.ProcessGroups, v.Distribution) }},
	{"configuration", func(p *page, v inspect.StatusView) { p.configuration(v.Configuration) }},
	{"reconciliation", func(p *page, v inspect.StatusView) { p.reconciliation(v.Reconciliation) }},
	{"locks", func(p *page, v inspect.StatusView) { p.locks(v.Locks) }},
	{"backups", func(p *page, v inspect.StatusView) { p.backups(v.Backups) }},
}

// StatusSections are the names of the sections of a status.
func StatusSections() []string {
	names := make([]string, len(statusSections))
	for i, s := range statusSections {
		names[i] = s.name
	}
	return names
}

// WriteStatus prints one cluster: a sentence, then sections. Each section has the source
// and the age of its facts.
func WriteStatus(w io.Writer, v inspect.StatusView, o StatusOptions) error {
	p := &page{w: w, o: o}
	p.head(o.in(bold, v.Metadata.Subject()), v)
	p.picture(o.Map)
	p.sections(v, func(string) bool { return true })
	return p.err
}

// sections prints the requested sections of which a function is true; without a request all of these, or none below a map.
func (p *page) sections(v inspect.StatusView, of func(name string) bool) {
	for _, s := range statusSections {
		if of(s.name) && (p.o.Sections == nil && p.o.Map == nil || slices.Contains(p.o.Sections, s.name)) {
			s.print(p, v)
		}
	}
}

// head prints the sentence about a cluster below its title, and what explains it.
func (p *page) head(title string, v inspect.StatusView) {
	o := p.o
	p.printf("%s\n", title)
	p.printf("%s\n", o.as(v.Tone(), v.Summary))
	if running := v.Locks.Operation; running != nil && running.Active {
		p.entry(o.in(yellow, "operation:")+" ", o.operation(*running)) // it explains most of what follows
	}
	if v.Rollout != nil {
		p.entry(o.in(yellow, "rollout:")+" ", inspect.RolloutText(*v.Rollout))
	}
	for _, r := range plan.ByRule(v.Refusals) {
		p.entry(o.in(red, "refused:")+" ", r.Summary(v.Refusals))
	}
	for _, warning := range v.Warnings {
		p.entry(o.in(yellow, "warning:")+" ", warning)
	}
}

// page prints sections and keeps the first error.
type page struct {
	w   io.Writer
	o   StatusOptions
	err error
}

func (p *page) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = layout.Fprintf(p.w, format, args...)
	}
}

// picture prints a map; nothing without one.
func (p *page) picture(m *inspect.Map) {
	if m == nil {
		return
	}
	p.printf("\n")
	if p.err == nil {
		p.err = WriteMap(p.w, *m, p.o.Paint)
	}
}

func (p *page) section(title string, origin inspect.Origin) {
	p.printf("\n%s  %s\n", p.o.in(bold, title), p.o.in(faint, p.o.origin(origin)))
}

// origin returns the source and the age of facts.
func (o StatusOptions) origin(from inspect.Origin) string {
	where := "live"
	if from.Source == inspect.SourceResource {
		where = "by the status"
	}
	switch {
	case from.AsOf == nil && from.Source == inspect.SourceResource:
		return "no status"
	case from.AsOf == nil:
		return where
	case o.Absolute:
		return where + ", " + from.AsOf.Format(time.RFC3339)
	case from.Source == inspect.SourceLive && o.Now.Sub(*from.AsOf) < 2*time.Second:
		return where
	default:
		return where + ", " + phrase.Duration(o.Now.Sub(*from.AsOf)) + " ago"
	}
}

func (p *page) fact(name, value string) { p.entry(fmt.Sprintf("  %-15s ", name), value) }

// entry prints a text after its label.
func (p *page) entry(label, text string) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, layout.Labeled(label, text, layout.Width(p.w)))
	}
}

func (p *page) database(v inspect.DatabaseView) {
	p.section("Database", v.Origin)
	if v.UnknownReason != "" {
		p.fact("Available", "unknown: "+v.UnknownReason)
		p.fact("Version", phrase.Or(v.Version, phrase.UnknownCell)+" in the status, "+v.SpecVersion+" in the spec")
		return
	}
	p.fact("Available", phrase.YesNo(v.Available, phrase.UnknownCell))
	p.fact("Version", databaseVersions(v))
	p.fact("Recovery", recoveryWords(v))
	p.fact("Data", dataWords(v))
	if v.Locked != nil && *v.Locked {
		p.fact("Locked", "with UID "+v.LockUID)
	}
	if v.MaintenanceZone != "" {
		p.fact("Maintenance", fmt.Sprintf("zone %s, %s left", v.MaintenanceZone, phrase.SecondsOr(v.MaintenanceLeft, phrase.UnknownCell)))
	}
	if v.PerformanceLimit != "" {
		p.fact("Limited by", inspect.Spaced(v.PerformanceLimit))
	}
	if p.o.Wide && len(v.Messages) > 0 {
		p.fact("Messages", strings.Join(v.Messages, ", "))
	}
}

func databaseVersions(v inspect.DatabaseView) string {
	if v.Version == v.SpecVersion {
		return v.Version
	}
	return phrase.Or(v.Version, phrase.UnknownCell) + ", " + v.SpecVersion + " in the spec"
}

func recoveryWords(v inspect.DatabaseView) string {
	words := inspect.Spaced(phrase.Or(v.RecoveryState, phrase.UnknownCell))
	if v.RecoveryAge != nil {
		words += ", " + phrase.Seconds(*v.RecoveryAge) + " ago"
	}
	return words
}

func dataWords(v inspect.DatabaseView) string {
	words := []string{inspect.Spaced(phrase.Or(v.DataState, phrase.UnknownCell))}
	if v.Replicas != nil {
		words = append(words, fmt.Sprintf("%d of %s", max(0, *v.Replicas), phrase.Count(v.ReplicasDesired, "copy")))
	}
	if v.StoredBytes != nil {
		words = append(words, phrase.Bytes(*v.StoredBytes)+" stored")
	}
	if v.MovingBytes != nil && v.QueuedBytes != nil && *v.MovingBytes+*v.QueuedBytes > 0 {
		words = append(words, fmt.Sprintf("%s moving, %s queued", phrase.Bytes(*v.MovingBytes), phrase.Bytes(*v.QueuedBytes)))
	}
	return strings.Join(words, ", ")
}

func (p *page) tolerance(v inspect.ToleranceView) {
	p.section("Fault tolerance", v.Origin)
	p.fact("Zones to spare", fmt.Sprintf("%s of %d for data, %s for availability (%s)", phrase.NumberOr(v.Zones, phrase.UnknownCell), v.Desired, phrase.NumberOr(v.ZonesAvailable, phrase.UnknownCell), v.Mode))
	if len(v.ZonesNotReporting) > 0 {
		p.fact("Not reporting", phrase.Some(v.ZonesNotReporting, inspect.MostNamed))
	}
}

func (p *page) coordinators(v inspect.CoordinatorsView) {
	p.section("Coordinators", v.Origin)
	p.fact("Answering", fmt.Sprintf("%s of %d, %d desired", phrase.NumberOr(v.Reachable, phrase.UnknownCell), len(v.Items), v.Desired))
	if !p.o.Wide {
		return
	}
	for _, c := range v.Items {
		p.fact("", c.Address+" "+answersWord(c.Reachable))
	}
}

func answersWord(reachable *bool) string {
	switch {
	case reachable == nil:
		return "not checked"
	case *reachable:
		return "answers"
	default:
		return "does not answer"
	}
}

func (p *page) groups(v inspect.GroupsView, use *distribution.Use) {
	p.section("Process groups", v.Origin)
	counts := fmt.Sprintf("%d of %d reconciled", v.Reconciled, v.Desired)
	if v.Total != v.Desired {
		counts += fmt.Sprintf(", %d exist", v.Total)
	}
	if v.Removing > 0 {
		counts += fmt.Sprintf(", %d being removed (%d excluded)", v.Removing, v.Excluded)
	}
	p.fact("Groups", counts)
	if v.Kept > 0 {
		p.fact("Kept", keptWords(v))
	}
	for _, c := range v.Classes {
		p.fact("  "+c.Class, fmt.Sprintf("%d of %d, %s reporting", c.Current, c.Desired, phrase.NumberOr(c.Reporting, phrase.UnknownCell)))
	}
	if use != nil {
		p.fact("Distribution", use.Text())
	}
	for i, c := range v.Conditions {
		name := "Conditions"
		if i > 0 {
			name = ""
		}
		p.fact(name, c.Condition+" on "+phrase.Count(c.Groups, "group"))
	}
}

// keptWords counts the process groups that the spec keeps, and those that it also wants replaced.
func keptWords(v inspect.GroupsView) string {
	words := phrase.Count(v.Kept, "process group") + " by spec.cancelReplacementsForInstance"
	if n := v.KeptDespiteSpec; n > 0 {
		words += fmt.Sprintf("; %s %s kept although the spec wants %s replaced", phrase.Count(n, "process group"), phrase.Is(n), phrase.Either(n, "it", "them"))
	}
	return words
}

func (p *page) configuration(v inspect.ConfigurationView) {
	p.section("Configuration", v.Origin)
	if v.Live == nil {
		p.fact("Desired", configurationWords(v.Desired))
		p.fact("Live", "unknown")
		return
	}
	p.fact("Live", configurationWords(*v.Live))
	if v.Matches != nil && !*v.Matches {
		p.fact("Desired", configurationWords(v.Desired))
	}
}

func configurationWords(c fdb.Configuration) string {
	words := []string{phrase.Or(c.RedundancyMode, phrase.UnknownCell), phrase.Or(c.StorageEngine, phrase.UnknownCell)}
	add := func(name string, n int) {
		if n > 0 {
			words = append(words, fmt.Sprintf("%s=%d", name, n))
		}
	}
	add("usable_regions", c.UsableRegions)
	add("logs", c.Logs)
	add("proxies", c.Proxies)
	add("commit_proxies", c.CommitProxies)
	add("grv_proxies", c.GrvProxies)
	add("resolvers", c.Resolvers)
	add("remote_logs", c.RemoteLogs)
	add("log_routers", c.LogRouters)
	add("regions", len(c.Regions))
	return strings.Join(words, " ")
}

// maxReasons is how many reasons are printed.
const maxReasons = 8

func (p *page) reconciliation(v inspect.ReconciliationView) {
	p.section("Reconciliation", v.Origin)
	p.fact("Generation", fmt.Sprintf("%d reached of %d", v.ReconciledGeneration, v.Generation))
	if v.Skip {
		p.fact("Paused", cmp.Or(v.Pause, &inspect.PauseView{}).Text(p.o.Now))
	}
	if v.FailureDetector != nil {
		p.fact("Detector", v.FailureDetector.Text(p.o.Now))
	}
	shown := v.Reasons
	if !p.o.Wide {
		shown = shown[:min(len(shown), maxReasons)]
	}
	for _, reason := range shown {
		p.fact("To do", reason)
	}
	if left := len(v.Reasons) - len(shown); left > 0 {
		p.fact("", fmt.Sprintf("and %d more", left))
	}
}

func (p *page) locks(v inspect.LocksView) {
	p.section("Locks", v.Origin)
	if v.LeaseRead {
		p.fact("Lease", p.o.held(v.LeaseHolder, v.LeaseUntil))
		if v.Operation != nil && !v.Operation.Active { // an active one is above all sections
			p.fact("Operation", p.o.operation(*v.Operation))
		}
	} else {
		p.fact("Lease", "unknown: it could not be read")
	}
	switch {
	case !v.Used:
		p.fact("Database lock", "not used by the spec")
	case !v.Read:
		p.fact("Database lock", "unknown: it was not read")
	case v.Expired:
		p.fact("Database lock", "free; last held by "+phrase.Or(v.Owner, phrase.UnknownCell))
	default:
		p.fact("Database lock", p.o.held(v.Owner, v.Until))
	}
	if len(v.DenyList) > 0 {
		p.fact("Denied", strings.Join(v.DenyList, ", "))
	}
}

func (o StatusOptions) held(holder string, until *time.Time) string {
	switch {
	case holder == "":
		return "free"
	case until == nil:
		return "held by " + holder
	case until.Before(o.Now):
		return "expired, last held by " + holder
	case o.Absolute:
		return "held by " + holder + " until " + until.Format(time.RFC3339)
	default:
		return "held by " + holder + " for " + phrase.Duration(until.Sub(o.Now)) + " more"
	}
}

// backups prints a line for each; nothing where there is none.
func (p *page) backups(v *inspect.RecordedBackupsView) {
	if v == nil {
		return
	}
	p.printf("\n%s  %s\n", p.o.in(bold, "Backups"), p.o.in(faint, "by their status; backup status and restore status read the database"))
	if v.Unread != "" {
		p.fact("Backups", "unknown: "+v.Unread)
	}
	for _, b := range v.Backups {
		p.fact("Backup", recordedBackupWords(b))
	}
	for _, r := range v.Restores {
		p.fact("Restore", r.Name+": "+phrase.Or(r.State, "never started"))
	}
}

func recordedBackupWords(v inspect.RecordedBackupView) string {
	parts := []string{"no status"}
	if r := v.Recorded; r != nil {
		parts = []string{word(r.Running, "running", "not running"), word(r.Restorable, "restorable", "not restorable")}
		if r.Paused {
			parts = append(parts, "paused")
		}
	}
	return fmt.Sprintf("%s: %s; %s desired, %s ready", v.Name, phrase.List(parts), v.Desired, phrase.CountOf(v.AgentsReady, v.AgentsDesired, "agent"))
}
