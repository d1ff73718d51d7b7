package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// RestoreFacts are the input of the view of a restore.
type RestoreFacts struct {
	plan.Snapshot
	// URL is the source of the data by the spec; empty where the spec does not define one.
	URL string
	// Own is the restore of the resource; nil where the database lists none.
	Own *fdb.RestoreStatus
	// Started is whether the restore was started, by the status of the resource.
	Started bool
}

// RestoreStatusView is the progress of one restore.
type RestoreStatusView struct {
	Document
	// Name is the FoundationDBRestore, and Cluster what is restored into.
	Name    string `json:"name"`
	Cluster string `json:"cluster"`
	// Done is whether the restore has completed; null when unknown.
	Done    *bool  `json:"done"`
	Summary string `json:"summary"`
	// Over is true when waiting does not help: it has completed, was aborted, or is lost.
	Over bool `json:"over"`
	// URL is where the data comes from; without secrets.
	URL string `json:"url"`
	// UnknownReason is why the database did not answer; empty when it did. What only the
	// database reports is null then.
	UnknownReason string `json:"unknownReason,omitempty"`
	// InvalidSpec are the errors of the spec, with which no pass starts the restore.
	InvalidSpec []plan.InvalidField `json:"invalidSpec,omitempty"`
	// State is the state that fdbrestore reports; empty when it was never started.
	State *string `json:"state"`
	// UID is the restore's, and that of the lock of the database while it lasts; empty
	// before the start.
	UID string `json:"uid,omitempty"`
	// Version is what is restored; null before the start.
	Version     *int64 `json:"version"`
	BlocksDone  *int64 `json:"blocksDone"`
	BlocksTotal *int64 `json:"blocksTotal"`
	// Percent is null before agents have read the backup.
	Percent      *float64 `json:"percent"`
	BytesWritten *int64   `json:"bytesWritten"`
	// RateBytesPerSecond and ETASeconds require three samples.
	RateBytesPerSecond *float64 `json:"rateBytesPerSecond"`
	ETASeconds         *float64 `json:"etaSeconds"`
	LastError          string   `json:"lastError,omitempty"`
	// RecordedState is what the last pass wrote into the status of the resource.
	RecordedState string `json:"recordedState,omitempty"`
}

// RestoreHistory is the progress of a restore over all samples of a command. The zero value
// is empty.
type RestoreHistory struct {
	uid           string
	blocks, bytes Progress
}

// NewRestoreStatusView makes the document, and adds what it read to the history.
func NewRestoreStatusView(m Metadata, f RestoreFacts, h *RestoreHistory) RestoreStatusView {
	r := f.Restore
	v := RestoreStatusView{
		Document: NewDocument("RestoreStatus", m, cmp.Or(f.RestoreStatus.AsOf, f.Now), SourceLive),
		Name:     r.Name, Cluster: r.Spec.DestinationClusterName, URL: f.URL,
		UnknownReason: f.RestoreStatus.Why(), RecordedState: string(r.Status.State),
		InvalidSpec: f.InvalidSpec,
	}
	switch {
	case v.UnknownReason != "":
		v.Summary = "cannot determine the progress of the restore: " + v.UnknownReason
	case f.Own != nil:
		v.report(*f.Own, h, f.RestoreStatus.AsOf)
	case f.Started && r.Status.State == fdb.RestoreCompleted:
		v.State, v.Done, v.Over, v.Summary = new(fdb.RestoreCompleted), new(true), true, "it completed, by its status; another restore has replaced it in the database's list"
	case f.Started && r.Status.State == fdb.RestoreAborted:
		v.State, v.Done, v.Over, v.Summary = new(fdb.RestoreAborted), new(false), true, "it was aborted, by its status; another restore has replaced it in the database's list"
	case f.Started:
		v.Done, v.Over, v.State = new(false), true, new("")
		v.Summary = "it was started, by its status, and the database does not list it"
	default:
		v.Done, v.State, v.Summary = new(false), new(""), "it is not started yet"+f.others()
	}
	if err := plan.InvalidSpecError(v.InvalidSpec); err != nil && !v.Over {
		v.Summary = "the spec is invalid: " + err.Error() + "; " + v.Summary
	}
	return v
}

// others returns the other restore that runs; empty without one.
func (f RestoreFacts) others() string {
	i := slices.IndexFunc(f.RestoreStatus.All, fdb.RestoreStatus.Active)
	if i < 0 {
		return ""
	}
	other := f.RestoreStatus.All[i]
	return fmt.Sprintf("; the restore of tag %s from %s is %s", other.Tag, fdb.WithoutSecrets(other.URL), other.State)
}

// report takes over what the database reports.
func (v *RestoreStatusView) report(r fdb.RestoreStatus, h *RestoreHistory, at time.Time) {
	v.UID = r.UID
	v.State, v.Version, v.URL, v.LastError = &r.State, &r.Version, fdb.WithoutSecrets(r.URL), r.LastError
	v.BlocksDone, v.BlocksTotal, v.BytesWritten = &r.BlocksDone, &r.BlocksTotal, &r.BytesWritten
	v.Done, v.Over = new(r.State == fdb.RestoreCompleted), !r.Active()
	if r.BlocksTotal > 0 {
		v.Percent = new(100 * float64(r.BlocksDone) / float64(r.BlocksTotal))
		v.follow(r, h, at)
	}
	switch {
	case *v.Done:
		v.Summary = fmt.Sprintf("it completed: %s written, as of version %d", phrase.Bytes(r.BytesWritten), r.Version)
	case v.Over:
		v.Summary = "it was aborted, which unlocked the database; " + LeftBehind(r)
	default:
		v.Summary = fmt.Sprintf("it is %s, and the database is locked: %s", r.State, v.Progress())
	}
	if v.LastError != "" && !*v.Done {
		v.Summary += "; its last error: " + v.LastError
	}
}

func (v *RestoreStatusView) follow(r fdb.RestoreStatus, h *RestoreHistory, at time.Time) {
	if h.uid != r.UID {
		*h = RestoreHistory{uid: r.UID}
	}
	h.blocks.add(at, r.BlocksTotal-r.BlocksDone)
	h.bytes.add(at, -r.BytesWritten) // a progress goes down
	if rate, _, known := h.bytes.rate(); known && r.Active() {
		v.RateBytesPerSecond = &rate
	}
	v.ETASeconds, _, _ = h.blocks.eta()
}

func (v *RestoreStatusView) Progress() string {
	if v.Percent == nil || v.BlocksDone == nil || v.BlocksTotal == nil {
		return "agents have not read the backup yet"
	}
	text := fmt.Sprintf("%.0f%%, %s", *v.Percent, phrase.CountOf(*v.BlocksDone, *v.BlocksTotal, "block"))
	if v.RateBytesPerSecond != nil {
		text += ", " + phrase.Bytes(int64(*v.RateBytesPerSecond)) + "/s"
	}
	if v.ETASeconds != nil {
		text += ", " + phrase.Seconds(*v.ETASeconds) + " left"
	}
	return text
}

// LeftBehind returns what an aborted restore leaves in the database, as far as it reported.
func LeftBehind(r fdb.RestoreStatus) string {
	if r.BytesWritten == 0 {
		return "the restore had not reported any written data"
	}
	return fmt.Sprintf("part of the data is in the database: %s, %s", phrase.Bytes(r.BytesWritten), phrase.CountOf(r.BlocksDone, r.BlocksTotal, "block"))
}
