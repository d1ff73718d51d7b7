package lists

import (
	"testing"
)

func TestConfigurationMatchIsUnknownWithoutTheDatabase(t *testing.T) {
	if v := NewConfigurationListView(meta, healthy(t), ""); v.Matches == nil || !*v.Matches {
		t.Errorf("%+v", v)
	}
	if v := NewConfigurationListView(meta, unanswered(t), ""); v.Matches != nil || v.Items[0].Live != nil || len(v.Warnings) != 1 {
		t.Errorf("%+v", v)
	}
}
