package safety

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// section is a part of the status document that answers of questions rest on.
type section string

// The sections. A document that is incomplete as a whole answers no question.
const (
	whole         section = "whole"
	ofRoles       section = "roles of processes"
	ofVersions    section = "versions of processes"
	ofUptimes     section = "uptimes of processes"
	ofStorage     section = "storage roles"
	ofLogs        section = "log roles"
	ofLocality    section = "localities of processes"
	ofCluster     section = "processes of this cluster"
	ofTime        section = "time of the cluster controller"
	ofMessages    section = "readable configuration"
	ofData        section = "data"
	ofRecovery    section = "recovery_state"
	ofGenerations section = "logs"
	ofCoordinator section = "coordinators"
	ofQuorum      section = "reachability of coordinators"
	ofConfig      section = "configuration"
	ofLoad        section = "qos"
	ofLock        section = "database_lock_state"
	ofBounce      section = "bounce_impact"
	ofReplication section = "full_replication"
	ofAge         section = "age of the document"
	ofClock       section = "order of times"
	ofLayers      section = "layers"
)

// document is a way in which a status document lacks something, or lies.
type document struct {
	lacks section
	cut   func(*plan.Snapshot)
}

func says(message string, cut func(*fdb.Status)) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		s.Database.Status.Cluster.Messages = append(s.Database.Status.Cluster.Messages, fdb.Message{Name: message})
		cut(s.Database.Status)
	}
}

func without(cut func(*fdb.Status)) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) { cut(s.Database.Status) }
}

func everyProcess(change func(*fdb.Process)) func(*fdb.Status) {
	return func(s *fdb.Status) {
		for id, p := range s.Cluster.Processes {
			change(&p)
			s.Cluster.Processes[id] = p
		}
	}
}

func keepAll(*fdb.Status) {}

// documents are the partial and the lying documents. The ways in which one is incomplete as a
// whole are those of partial, too.
func documents() map[string]document {
	all := map[string]document{
		"without a document": {whole, func(s *plan.Snapshot) { s.Database.Status, s.Database.Unreachable = nil, "timed out" }},
		"late, without recovery_state": {whole, func(s *plan.Snapshot) {
			partial["late"](s.Database.Status)
			s.Database.Status.Cluster.RecoveryState = nil
		}},
		"without roles":           {ofRoles, without(everyProcess(func(p *fdb.Process) { p.Roles = nil }))},
		"without storage servers": {ofStorage, says(fdb.MessageStorageServersError, everyProcess(dropRole(fdb.RoleStorage)))},
		"without log servers":     {ofLogs, says(fdb.MessageLogServersError, everyProcess(dropRole(fdb.RoleLog)))},
		"without versions":        {ofVersions, without(everyProcess(func(p *fdb.Process) { p.Version, p.CommandLine = "", "" }))},
		"without uptimes":         {ofUptimes, without(everyProcess(func(p *fdb.Process) { p.UptimeSeconds = nil }))},
		"without localities":      {ofLocality, without(everyProcess(func(p *fdb.Process) { p.Locality = nil }))},
		"of another cluster":      {ofCluster, without(ofAnotherCluster)},
		"without data, unreachable_dataDistributor_worker":  {ofData, says("unreachable_dataDistributor_worker", func(s *fdb.Status) { s.Cluster.Data = nil })},
		"without team trackers and state":                   {ofData, without(func(s *fdb.Status) { s.Cluster.Data = &fdb.DataStatus{} })},
		"without recovery_state, unreachable_master_worker": {ofRecovery, says("unreachable_master_worker", func(s *fdb.Status) { s.Cluster.RecoveryState = nil })},
		"with an empty recovery_state":                      {ofRecovery, without(func(s *fdb.Status) { s.Cluster.RecoveryState = &fdb.RecoveryState{} })},
		"without logs":                                      {ofGenerations, without(func(s *fdb.Status) { s.Cluster.Logs = nil })},
		"without coordinators":                              {ofCoordinator, without(func(s *fdb.Status) { s.Client.Coordinators.Coordinators = nil })},
		"without a time":                                    {ofTime, without(func(s *fdb.Status) { s.Cluster.ClusterControllerTimestamp = nil })},
		"with unreadable_configuration":                     {ofMessages, says(fdb.MessageUnreadableConfiguration, keepAll)},
		"without a reachable quorum":                        {ofQuorum, without(unreachable)},
		"without configuration":                             {ofConfig, without(func(s *fdb.Status) { s.Cluster.Configuration = nil })},
		"without qos":                                       {ofLoad, without(func(s *fdb.Status) { s.Cluster.QoS = nil })},
		"with empty qos":                                    {ofLoad, without(func(s *fdb.Status) { s.Cluster.QoS = &fdb.QoS{} })},
		"without database_lock_state":                       {ofLock, without(func(s *fdb.Status) { s.Cluster.DatabaseLockState = nil })},
		"without bounce_impact":                             {ofBounce, without(func(s *fdb.Status) { s.Cluster.BounceImpact = nil })},
		"without full_replication":                          {ofReplication, without(func(s *fdb.Status) { s.Cluster.FullReplication = nil })},
		"old":                                               {ofAge, func(s *plan.Snapshot) { s.Database.AsOf = s.Now.Add(-time.Hour) }},
		"of the future":                                     {ofClock, func(s *plan.Snapshot) { s.Database.AsOf = s.Now.Add(time.Hour) }},
		"with layer_status_incomplete":                      {ofLayers, says("layer_status_incomplete", keepAll)},
	}
	for name, cut := range partial {
		all[name] = document{whole, without(cut)}
	}
	return all
}

func dropRole(role string) func(*fdb.Process) {
	return func(p *fdb.Process) {
		p.Roles = slices.DeleteFunc(slices.Clone(p.Roles), func(r fdb.Role) bool { return r.Role == role })
	}
}

func unreachable(s *fdb.Status) {
	s.Client.Coordinators.QuorumReachable = false
	for i := range s.Client.Coordinators.Coordinators {
		s.Client.Coordinators.Coordinators[i].Reachable = false
	}
}

// ofAnotherCluster gives every process the identity of another cluster's, which runs the same way.
func ofAnotherCluster(s *fdb.Status) {
	everyProcess(func(p *fdb.Process) {
		p.Locality = maps.Clone(p.Locality)
		p.Locality[fdb.LocalityInstanceID] = "other-" + p.Locality[fdb.LocalityInstanceID]
		p.Address.Host = strings.Replace(p.Address.Host, "10.0.", "10.9.", 1)
	})(s)
}

// TestNoGatePassesOnAPartialStatusDocument puts every question of this package to every document. Each
// is answered with yes by a complete one, with no by one that lacks what it reads, and with yes
// still by one that lacks something else: what a question reads is declared, and true.
func TestNoGatePassesOnAPartialStatusDocument(t *testing.T) {
	for name, q := range questionsOfDocuments() {
		t.Run(name, func(t *testing.T) {
			complete := answerable(t)
			q.prepare(&complete)
			if !q.ask(complete) {
				t.Fatal("no, on a complete document")
			}
			for what, d := range documents() {
				s := answerable(t)
				q.prepare(&s)
				d.cut(&s)
				refuses := d.lacks == whole || slices.Contains(q.reads, d.lacks)
				if got := q.ask(s); got == refuses {
					t.Errorf("%t on a document %s, which lacks %q; it reads %v", got, what, d.lacks, q.reads)
				}
			}
		})
	}
}

// TestEverySafetyCheckIsTestedWithPartialStatusDocuments finds the questions in the source of this package: a new
// one needs a row, or a reason why the status document does not answer it.
func TestEverySafetyCheckIsTestedWithPartialStatusDocuments(t *testing.T) {
	rows := questionsOfDocuments()
	requested := map[string]bool{}
	for name := range rows {
		function, _, _ := strings.Cut(name, ":")
		requested[function] = true
	}
	found := questionFunctions(t)
	for _, name := range found {
		if _, exempt := withoutDocument[name]; requested[name] == exempt {
			t.Errorf("%s: has rows %t, and is exempt %t; want one of both", name, requested[name], exempt)
		}
	}
	for name := range requested {
		if !slices.Contains(found, name) {
			t.Errorf("rows of %s, which asks nothing", name)
		}
	}
	for name := range withoutDocument {
		if !slices.Contains(found, name) {
			t.Errorf("the exemption of %s is of nothing", name)
		}
	}
}

// createsCheck reports whether a function has a composite literal of a plan.Check with an ID.
func createsCheck(f *ast.FuncDecl) (creates bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		kv, is := n.(*ast.KeyValueExpr)
		if !is {
			return true
		}
		key, named := kv.Key.(*ast.Ident)
		id, selected := kv.Value.(*ast.SelectorExpr)
		creates = creates || (named && selected && key.Name == "ID" && strings.HasPrefix(id.Sel.Name, "Check"))
		return true
	})
	return creates
}

// questionFunctions are the functions and methods of the package that create a plan.Check, and the
// exported ones that answer from a snapshot in another form.
func questionFunctions(t *testing.T) []string {
	t.Helper()
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, entry := range files {
		if !strings.HasSuffix(entry.Name(), ".go") || strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), entry.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, is := d.(*ast.FuncDecl); is && (createsCheck(f) || (f.Name.IsExported() && readsSnapshot(f))) {
				found = append(found, f.Name.Name)
			}
		}
	}
	if len(found) < 40 {
		t.Fatalf("found only %v", found)
	}
	return found
}

func readsSnapshot(f *ast.FuncDecl) bool {
	return slices.ContainsFunc(f.Type.Params.List, func(p *ast.Field) bool {
		return isOf(p.Type, "Snapshot") || isOf(p.Type, "DatabaseFacts")
	})
}

// isOf reports whether an expression is a type of the package plan.
func isOf(e ast.Expr, name string) bool {
	selected, is := e.(*ast.SelectorExpr)
	if !is || selected.Sel.Name != name {
		return false
	}
	of, is := selected.X.(*ast.Ident)
	return is && of.Name == "plan"
}

// TestEveryGateIsTestedWithPartialStatusDocuments compares the gates of the code with those that the rows ask.
func TestEveryGateIsTestedWithPartialStatusDocuments(t *testing.T) {
	requested := map[plan.Gate]bool{}
	for _, q := range questionsOfDocuments() {
		s := answerable(t)
		q.prepare(&s)
		for _, c := range q.checks(s) {
			requested[c.Gate] = true
		}
	}
	text, err := os.ReadFile("../../../docs/safety.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, gate := range gatesOfCode(t) {
		if _, exempt := gatesWithoutDocument[gate]; requested[gate] == exempt {
			t.Errorf("%s: has rows %t, and is exempt %t; want one of both", gate, requested[gate], exempt)
		}
		if !strings.Contains(string(text), string(gate)) {
			t.Errorf("%s is not in docs/safety.md", gate)
		}
	}
}

func gatesOfCode(t *testing.T) []plan.Gate {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../plan/plan.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var gates []plan.Gate
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, is := n.(*ast.ValueSpec); is {
			if of, named := spec.Type.(*ast.Ident); named && of.Name == "Gate" {
				gates = append(gates, plan.Gate(strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`)))
			}
		}
		return true
	})
	if len(gates) < 20 {
		t.Fatalf("found only %v", gates)
	}
	return gates
}
