package fdb_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// documentOf is a status document with so many storage processes, each with the
// fields that FoundationDB 7.3 reports of one.
func documentOf(processes int) []byte {
	const process = `"%032[1]x":{"address":"10.1.%[2]d.%[3]d:4501","class_source":"command_line","class_type":"storage",
"command_line":"/usr/bin/fdbserver --class=storage --cluster_file=/var/fdb/data/fdb.cluster --datadir=/var/fdb/data --locality_instance_id=storage-%[1]d --locality_zoneid=node-%[1]d --public_address=10.1.%[2]d.%[3]d:4501",
"cpu":{"usage_cores":0.0123},"disk":{"busy":0.0012,"free_bytes":100000000000,"reads":{"counter":1234,"hz":0.2,"sectors":12},"total_bytes":137438953472,"writes":{"counter":4321,"hz":11.4,"sectors":345}},
"excluded":false,"fault_domain":"node-%[1]d","locality":{"instance_id":"storage-%[1]d","machineid":"node-%[1]d","process_id":"storage-%[1]d-1","processid":"%032[1]x","zoneid":"node-%[1]d"},
"machine_id":"node-%[1]d","memory":{"available_bytes":8589934592,"limit_bytes":8589934592,"rss_bytes":123456789,"unused_allocated_memory":131072,"used_bytes":234567890},"messages":[],
"network":{"connection_errors":{"hz":0},"connections_closed":{"hz":0},"connections_established":{"hz":0},"current_connections":31,"megabits_received":{"hz":0.1},"megabits_sent":{"hz":0.2},"tls_policy_failures":{"hz":0}},
"roles":[{"bytes_queried":{"counter":1,"hz":0,"roughness":0},"data_lag":{"seconds":0.1,"versions":100000},"data_version":12345678,"durability_lag":{"seconds":5.1,"versions":5100000},"durable_bytes":{"counter":1,"hz":0,"roughness":0},
"id":"%016[1]x","input_bytes":{"counter":1,"hz":0,"roughness":0},"kvstore_available_bytes":100000000000,"kvstore_free_bytes":100000000000,"kvstore_total_bytes":137438953472,"kvstore_used_bytes":104857600,"role":"storage",
"storage_metadata":{"created_time_datetime":"2026-11-20 12:00:00.000 +0000","created_time_timestamp":1795176000,"storage_engine":"ssd-2"},"stored_bytes":1048576}],
"run_loop_busy":0.01,"uptime_seconds":3600.5,"version":"7.3.79"}`
	entries := make([]string, processes)
	for i := range entries {
		entries[i] = fmt.Sprintf(process, i, i/250, i%250+1)
	}
	return fmt.Appendf(nil, `{"client":{"database_status":{"available":true,"healthy":true}},"cluster":{"recovery_state":{"name":"fully_recovered","active_generations":1},"processes":{%s}}}`, strings.Join(entries, ",\n"))
}

func TestTheBenchmarkStatusDocumentIsParsed(t *testing.T) {
	s, err := fdb.ParseStatus(documentOf(3))
	if err != nil || len(s.ProcessList()) != 3 || !s.ProcessList()[0].Reporting() || !s.Available() {
		t.Errorf("got %+v and %v", s, err)
	}
}

// Parsing is compared with what encoding/json needs for the same text without
// knowing anything about it.
func BenchmarkParseStatus(b *testing.B) {
	document := documentOf(1000)
	parse := func() error { _, err := fdb.ParseStatus(document); return err }
	plain := func() error { var anything map[string]any; return json.Unmarshal(document, &anything) }
	for name, run := range map[string]func() error{"ours": parse, "plain": plain} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(document)))
			for b.Loop() {
				if err := run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("ratio", func(b *testing.B) {
		for b.Loop() {
			ours, other := fastest(b, parse), fastest(b, plain)
			b.ReportMetric(float64(ours)/float64(other), "ours/plain")
		}
	})
}

// fastest is the shortest of a few runs: the one that other work disturbed least.
func fastest(b *testing.B, run func() error) time.Duration {
	b.Helper()
	best := time.Duration(1<<63 - 1)
	for range 5 {
		begun := time.Now()
		if err := run(); err != nil {
			b.Fatal(err)
		}
		best = min(best, time.Since(begun))
	}
	return best
}
