package v1beta2

import "k8s.io/utils/ptr"

// AnyTaint is the key of a rule about all taints that no other rule names.
const AnyTaint = "*"

// TaintPatience is for how long, in seconds, each rule about a taint lets it be before
// process groups are to leave; none where no rule is about it. A rule that names the key
// keeps the rule about all others away, even when it is switched off: when it has no
// time, or a negative one. The largest 64-bit number means never.
func (c *FoundationDBCluster) TaintPatience(key string) []int64 {
	rules := c.Spec.AutomationOptions.Replacements.TaintReplacementOptions
	applying := taintRulesFor(key, rules)
	if len(applying) == 0 {
		applying = taintRulesFor(AnyTaint, rules)
	}
	var patience []int64
	for _, rule := range applying {
		if seconds := ptr.Deref(rule.DurationInSeconds, -1); seconds >= 0 {
			patience = append(patience, seconds)
		}
	}
	return patience
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
