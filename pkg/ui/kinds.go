package ui

import (
	"cmp"
	"io"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/describe"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/logs"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/targets"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/waiting"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/schema"
)

// Kind is a kind of document that the program prints.
type Kind struct {
	Name string
	// PrintedBy is the command that prints it, and when.
	PrintedBy string
	// Document is an empty one; nil for a kind that has several forms.
	Document any
	// Input is the apiVersion of a kind that users write and commands read; empty for output.
	Input string
	// Events are the forms of a line in a stream, by the value of their field event.
	Events []EventKind
}

// EventKind is one form of a line.
type EventKind struct {
	Name string
	Line any
}

// Kinds are all kinds of documents of this package, by name. A new one is a line here.
func Kinds() []Kind {
	return []Kind{
		{Name: "AccessReview", PrintedBy: "auth can-i", Document: lists.AccessView{}},
		{Name: "BackupDescription", PrintedBy: "backup describe", Document: lists.BackupDescriptionView{}},
		{Name: "BackupList", PrintedBy: "backup list", Document: lists.BackupListView{}},
		{Name: "BackupStatus", PrintedBy: "backup status", Document: inspect.BackupStatusView{}},
		{Name: "CanReport", PrintedBy: "can", Document: lists.CanReport{}},
		{Name: "ChangeResult", PrintedBy: "replace, maintenance, pause, resume, locks, connection-string sync, coordinators, backup and restore, the last line where they change something", Document: inspect.ChangeResult{}},
		{Name: "ClientList", PrintedBy: "get clients", Document: lists.ClientListView{}},
		{Name: "ClusterDescription", PrintedBy: "describe", Document: describe.ClusterDescription{}},
		{Name: "ClusterStatus", PrintedBy: "status", Document: inspect.StatusView{}},
		{Name: "ClusterStatusList", PrintedBy: "status -A and get clusters", Document: inspect.StatusListView{}},
		{Name: "ClusterTree", PrintedBy: "describe --tree", Document: describe.Tree{}},
		{Name: "Configuration", PrintedBy: "get configuration", Document: lists.ConfigurationListView{}},
		{Name: "ConnectionString", PrintedBy: "connection-string show", Document: lists.ConnectionStringView{}},
		{Name: "ConnectionStringDrift", PrintedBy: "connection-string drift", Document: lists.ConnectionStringDriftView{}},
		{Name: "CoordinatorDiagnosis", PrintedBy: "coordinators repair, while no quorum answers", Document: lists.CoordinatorDiagnosisView{}},
		{Name: "CoordinatorList", PrintedBy: "get coordinators", Document: inspect.CoordinatorListView{}},
		{Name: "Error", PrintedBy: "every command that fails, on stderr", Document: ErrorView{}},
		{Name: "EventList", PrintedBy: "events", Document: inspect.EventListView{}},
		{Name: "ExclusionList", PrintedBy: "get exclusions", Document: lists.ExclusionListView{}},
		{Name: "ExclusionStatus", PrintedBy: "exclusion status", Document: inspect.ExclusionStatusView{}},
		{Name: "Frame", PrintedBy: "watch --record, one per line", Document: frame.Frame{}},
		{Name: "History", PrintedBy: "history", Document: inspect.HistoryView{}},
		{Name: "KindList", PrintedBy: "schema", Document: KindListView{}},
		{Name: "LockList", PrintedBy: "get locks", Document: inspect.LockListView{}},
		{Name: "LogEntry", PrintedBy: "logs, one per line", Document: logs.Entry{}},
		{Name: "Maintenance", PrintedBy: "maintenance status", Document: targets.MaintenanceView{}},
		{Name: "NodeList", PrintedBy: "get nodes", Document: inspect.NodeListView{}},
		{Name: "OperationList", PrintedBy: "operations list", Document: inspect.OperationListView{}},
		{Name: "OperationStatus", PrintedBy: "operations follow", Document: inspect.OperationStatusView{}},
		{Name: "Plan", PrintedBy: "plan, and every command that changes something with --dry-run -o json", Document: planned.PlanView{}},
		{Name: "PlanList", PrintedBy: "plan and reconcile --dry-run, with --with-backups", Document: planned.PlanListView{}},
		{Name: "ProcessGroupDescription", PrintedBy: "describe process-group", Document: describe.GroupDescription{}},
		{Name: "ProcessGroupList", PrintedBy: "get process-groups", Document: inspect.GroupListView{}},
		{Name: "ProcessList", PrintedBy: "get processes", Document: lists.ProcessListView{}},
		{Name: "ReconcileEvent", PrintedBy: "reconcile and replace, one per line", Events: eventKinds()},
		{Name: "ReconcileResult", PrintedBy: "reconcile, the last line", Document: inspect.ReconcileResult{}},
		{Name: "ReconcileResultList", PrintedBy: "reconcile --with-backups, --contexts or --sites, the last line", Document: inspect.ReconcileResultList{}},
		{Name: "RecoveryPlan", PrintedBy: "recover plan", Document: recovery.PlanView{}},
		{Name: "RecoveryReport", PrintedBy: "recover collect", Document: recovery.ReportView{}},
		{Name: "RecoveryVerification", PrintedBy: "recover verify", Document: recovery.VerificationView{}},
		{Name: "RestoreStatus", PrintedBy: "restore status", Document: inspect.RestoreStatusView{}},
		{Name: "Version", PrintedBy: "version", Document: lists.VersionView{}},
		{Name: "WaitResult", PrintedBy: "wait", Document: waiting.WaitView{}},
		{Name: "WhyReport", PrintedBy: "why", Document: why.Report{}},
		{Name: "WhyReportList", PrintedBy: "why -A", Document: why.ReportList{}},
	}
}

func eventKinds() []EventKind {
	return []EventKind{
		{"started", passStarted{}},
		{"observing", observing{}},
		{"observed", observed{}},
		{"gates", gatesChecked{}},
		{"decided", stageDecided{}},
		{"leased", taken{}},
		{"locked", taken{}},
		{"acting", actionStarted{}},
		{"acted", actionDone{}},
		{"stage", stageDone{}},
		{"pass", passDone{}},
		{"wait-started", inspect.WaitStarted{}},
		{"wait-ended", inspect.WaitEnded{}},
	}
}

// Schema describes the documents of the kind.
func (k Kind) Schema(o schema.Options) schema.Node {
	if k.Events == nil {
		o.Closed = o.Closed || k.Input != "" // an unknown field of a file is an error
		return schema.Document(k.Name, k.Document, map[string]string{"apiVersion": cmp.Or(k.Input, inspect.APIVersion), "kind": k.Name}, o)
	}
	variants := make([]schema.Variant, len(k.Events))
	for i, e := range k.Events {
		variants[i] = schema.Variant{Value: e.Name, Example: e.Line}
	}
	return schema.OneOf(k.Name, "event", variants, o)
}

// KindListView is the document of `schema` without a kind.
type KindListView struct {
	inspect.Document
	Items []KindView `json:"items"`
}

// KindView is one kind of documents.
type KindView struct {
	Name string `json:"name"`
	// PrintedBy is the command that prints it, and when.
	PrintedBy string `json:"printedBy"`
}

// NewKindListView is the document about kinds.
func NewKindListView(m inspect.Metadata, kinds []Kind) KindListView {
	v := KindListView{Document: inspect.NewDocument("KindList", m, time.Time{}, inspect.SourceLive), Items: []KindView{}}
	for _, k := range kinds {
		v.Items = append(v.Items, KindView{k.Name, k.PrintedBy})
	}
	return v
}

// WriteKinds prints a row per kind.
func WriteKinds(w io.Writer, v KindListView, o ListOptions) error {
	t := o.table([]layout.Column{
		{Name: "KIND"},
		{Name: "PRINTED-BY", Min: 20},
	})
	for _, k := range v.Items {
		t.Rows = append(t.Rows, []string{k.Name, k.PrintedBy})
	}
	return t.Write(w)
}

// ErrorView is what a command that failed prints to stderr with -o json.
type ErrorView struct {
	inspect.Document
	// ExitCode is what the program ends with; docs/exit-codes.md explains it.
	ExitCode int    `json:"exitCode"`
	Message  string `json:"message"`
	// Hints are commands or sentences to try next.
	Hints []string `json:"hints"`
	// Differences are the changes of the cluster state since the plan was saved; only where
	// they are why the command ends.
	Differences []planned.PlanDifference `json:"differences,omitempty"`
}

// NewError makes the document of a failure.
func NewError(m inspect.Metadata, exitCode int, message string, hints []string) ErrorView {
	return ErrorView{Document: inspect.NewDocument("Error", m, time.Time{}, inspect.SourceLive), ExitCode: exitCode, Message: inspect.OneLine(message), Hints: inspect.OrEmpty(hints)}
}
