// Package upgrade converts documents of earlier versions to the present one, so that old
// recordings remain readable.
package upgrade

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

// Renamed is a key of documents that an earlier version wrote under another name or with
// other values.
type Renamed struct {
	// Kind is the kind of the documents.
	Kind string
	// Key is the key in the earlier version, and To its name now.
	Key, To string
	// Values are the values that were renamed, by their earlier names.
	Values map[string]string
}

// The keys of version 1 that have another name now. docs/json-versions.md has them as tables.
var renamedSinceFirst = []Renamed{
	{Kind: "BackupDescription", Key: "noAnswer", To: "unknownReason"},
	{Kind: "BackupList", Key: "noAnswer", To: "unknownReason"},
	{Kind: "BackupStatus", Key: "asWanted", To: "reconciled"},
	{Kind: "BackupStatus", Key: "wanted", To: "desired"},
	{Kind: "BackupStatus", Key: "noAnswer", To: "unknownReason"},
	{Kind: "CheckReport", Key: "verdict", To: "verdict", Values: map[string]string{"cannot-tell": "unknown"}},
	{Kind: "CheckReportList", Key: "verdict", To: "verdict", Values: map[string]string{"cannot-tell": "unknown"}},
	{Kind: "ClientList", Key: "server", To: "besideProcess"},
	{Kind: "ClusterStatus", Key: "noAnswer", To: "unknownReason"},
	{Kind: "ClusterStatus", Key: "silentZones", To: "zonesNotReporting"},
	{Kind: "ClusterStatus", Key: "staying", To: "current"},
	{Kind: "ClusterStatus", Key: "wanted", To: "desired"},
	{Kind: "ClusterStatus", Key: "agentsWanted", To: "agentsDesired"},
	{Kind: "CoordinatorDiagnosis", Key: "state", To: "state", Values: map[string]string{"answers": "reachable", "silent": "unreachable"}},
	{Kind: "CoordinatorList", Key: "leaving", To: "removing"},
	{Kind: "Error", Key: "what", To: "code", Values: map[string]string{"item-not-wanted": "item-not-planned"}},
	{Kind: "Error", Key: "words", To: "message"},
	{Kind: "ExclusionList", Key: "state", To: "state", Values: map[string]string{"wanted": "pending", "asked": "requested"}},
	{Kind: "ExclusionStatus", Key: "state", To: "state", Values: map[string]string{"wanted": "pending", "asked": "requested"}},
	{Kind: "Frame", Key: "askedAt", To: "requestedAt"},
	{Kind: "Frame", Key: "trouble", To: "problem"},
	{Kind: "LockList", Key: "byHand", To: "manualHolder"},
	{Kind: "LockList", Key: "instance", To: "controlPlaneInstance"},
	{Kind: "Plan", Key: "step", To: "stage"},
	{Kind: "Plan", Key: "human", To: "manualIntervention"},
	{Kind: "ProcessGroupDescription", Key: "exclusion", To: "exclusion", Values: map[string]string{"wanted": "pending", "asked": "requested"}},
	{Kind: "ProcessGroupDescription", Key: "trouble", To: "problem"},
	{Kind: "ProcessGroupList", Key: "exclusion", To: "exclusion", Values: map[string]string{"wanted": "pending", "asked": "requested"}},
	{Kind: kindEvent, Key: "event", To: "event", Values: map[string]string{"resting": "wait-started", "woken": "wait-ended"}},
	{Kind: kindEvent, Key: "human", To: "manualIntervention"},
	{Kind: "RestoreStatus", Key: "noAnswer", To: "unknownReason"},
	{Kind: "Version", Key: "servers", To: "processes"},
	{Kind: "Version", Key: "version", To: "version", Values: map[string]string{"?": ""}},
	{Kind: "WhyReport", Key: "wish", To: "summary"},
	{Kind: "WhyReport", Key: "because", To: "reasons"},
	{Kind: "WhyReport", Key: "step", To: "stage"},
	{Kind: "WhyReport", Key: "what", To: "message"},
}

// kindEvent is the kind of the lines of a pass, which do not name it.
const kindEvent = "ReconcileEvent"

// JSON returns a text in which all documents and lines of passes of version 1 have the
// keys of the present version. Recordings outlive versions; everything else is printed and read
// by the same one.
func JSON(text []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return nil, fmt.Errorf("decode JSON: %w", err)
	}
	upgraded, err := json.Marshal(upgrade(tree, ""))
	if err != nil {
		return nil, fmt.Errorf("encode JSON: %w", err)
	}
	return upgraded, nil
}

// upgrade renames in one value, which is part of a document of a kind; empty where it is part
// of none of version 1.
func upgrade(value any, kind string) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = upgrade(v[i], kind)
		}
	case map[string]any:
		return upgradeObject(v, kind)
	}
	return value
}

func upgradeObject(object map[string]any, kind string) map[string]any {
	kind = kindOfPart(object, kind)
	if object["apiVersion"] == inspect.FirstAPIVersion {
		object["apiVersion"] = inspect.APIVersion
	}
	renamed := map[string]any{}
	for key, value := range object {
		to, value := key, upgrade(value, kind)
		for _, r := range renamedSinceFirst {
			if r.Kind != kind || r.Key != key {
				continue
			}
			to = r.To
			if old, is := value.(string); is {
				if now, is := r.Values[old]; is {
					value = now
				}
			}
		}
		renamed[to] = value
	}
	return renamed
}

// kindOfPart returns the kind of the document that an object is, or is part of.
func kindOfPart(object map[string]any, of string) string {
	kind, _ := object["kind"].(string)
	_, isEvent := object["event"].(string)
	switch version := object["apiVersion"]; {
	case version == inspect.FirstAPIVersion:
		return kind
	case version != nil:
		return ""
	case isEvent && object["pass"] != nil:
		return kindEvent
	default:
		return of
	}
}
