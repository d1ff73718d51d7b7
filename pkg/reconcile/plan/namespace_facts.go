package plan

import corev1 "k8s.io/api/core/v1"

// NamespaceFacts are the rules of a namespace that decide which objects the API server accepts there. Missing
// permission is a fact.
type NamespaceFacts struct {
	// Quotas are the ResourceQuotas, with what they count; QuotasHidden is why they cannot be read.
	Quotas       []corev1.ResourceQuota
	QuotasHidden string
	// Limits are the LimitRanges; LimitsHidden is why they cannot be read.
	Limits       []corev1.LimitRange
	LimitsHidden string
	// PodSecurity is the level that pods must have; empty for none. PodSecurityHidden is why it cannot be read.
	PodSecurity       string
	PodSecurityHidden string
}
