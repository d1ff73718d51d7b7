package v1beta2

import "k8s.io/utils/ptr"

// AnyTaint is the key of a rule for all taints that no other rule names.
const AnyTaint = "*"

// TaintDelays returns how many seconds each rule for a taint tolerates it before
// process groups are replaced; empty if no rule applies. A rule that names the key takes
// precedence over the rule for all keys, even if it is disabled by a missing or negative
// duration. The largest 64-bit number means never.
func (c *FoundationDBCluster) TaintDelays(key string) []int64 {
	rules := c.Spec.AutomationOptions.Replacements.TaintReplacementOptions
	applying := taintRulesFor(key, rules)
	if len(applying) == 0 {
		applying = taintRulesFor(AnyTaint, rules)
	}
	var delays []int64
	for _, rule := range applying {
		if seconds := ptr.Deref(rule.DurationInSeconds, -1); seconds >= 0 {
			delays = append(delays, seconds)
		}
	}
	return delays
}

func taintRulesFor(key string, rules []TaintReplacementOption) []TaintReplacementOption {
	var named []TaintReplacementOption
	for _, rule := range rules {
		if key != "" && ptr.Deref(rule.Key, "") == key {
			named = append(named, rule)
		}
	}
	return named
}
