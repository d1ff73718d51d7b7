package inspect

import "time"

// ReportHistory is what process groups reported last, in the frames before. The zero value has nothing.
type ReportHistory struct{ last map[string]LastReport }

// Recall keeps what the database reported at a time, and adds to process groups whose processes are unknown what was known of
// them last. A nil history does neither.
func (h *ReportHistory) Recall(v *GroupListView, asOf time.Time) {
	if h == nil {
		return
	}
	kept := map[string]LastReport{}
	for i := range v.Items {
		g := &v.Items[i]
		last, known := h.last[g.ID]
		switch {
		case g.Roles != nil && !g.ConditionsUnknown:
			last, known = LastReport{AsOf: asOf.UTC(), Roles: g.Roles, UptimeSeconds: g.UptimeSeconds, Conditions: g.Conditions}, true
		case known:
			g.LastReport = &last
		}
		if known {
			kept[g.ID] = last
		}
	}
	h.last = kept
}
