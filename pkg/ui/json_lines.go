package ui

import (
	"bytes"
	"encoding/json"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/redact"
)

// Lines returns a reporter that passes on the lines of JSON one by one, to show or record them:
// without what may contain secrets.
func Lines(receive func(json.RawMessage)) func(reconcile.Event) {
	pass := 0
	return func(e reconcile.Event) {
		if started, ok := e.(reconcile.PassStarted); ok && started.Round == 1 {
			pass++
		}
		receive(Line(discreet(record(e, pass, ""))))
	}
}

// Line returns a document as one line of JSON with secrets of connection strings hidden.
func Line(document any) json.RawMessage {
	var text bytes.Buffer
	if err := WriteJSON(&text, document); err != nil {
		panic(err) // documents always encode
	}
	return json.RawMessage(redact.Kept(string(bytes.TrimSpace(text.Bytes()))))
}

// discreet leaves the fields of actions out of a line.
func discreet(line any) any {
	switch l := line.(type) {
	case stageDecided:
		for i := range l.Actions {
			l.Actions[i] = l.Actions[i].WithoutSecrets()
		}
		return l
	case actionStarted:
		l.Action = l.Action.WithoutSecrets()
		return l
	case actionDone:
		l.Action = l.Action.WithoutSecrets()
		return l
	default:
		return line
	}
}
