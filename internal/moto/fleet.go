package moto

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// onceForEachToken adds a rule of EC2 that moto lacks. For a client token that was used before, it returns the first answer again, or an
// error if the request differs.
func (c *Cloud) onceForEachToken(call Call, next func(Call) Answer) Answer {
	token, request := call.Form.Get("ClientToken"), call.Form.Encode()
	c.mu.Lock()
	known, used := c.fleets[token]
	c.mu.Unlock()
	switch {
	case token == "":
		return next(call)
	case used && known.request != request:
		return Refusal(http.StatusBadRequest, "IdempotentParameterMismatch", "the client token was used for another request")
	case used:
		return known.answer
	}
	answer := next(call)
	if answer.Status == http.StatusOK {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.fleets[token] = fleet{request, answer}
	}
	return answer
}

// override is one of the overrides in the form of a CreateFleet request.
type override struct {
	prefix                     string // "LaunchTemplateConfigs.1.Overrides.2."
	config, number             int
	template                   string
	instanceType, zone, subnet string
}

var overridePrefix = regexp.MustCompile(`^(LaunchTemplateConfigs\.(\d+)\.)Overrides\.(\d+)\.`)

func overrides(form url.Values) []override {
	found := map[string]override{}
	for key := range form {
		m := overridePrefix.FindStringSubmatch(key)
		if m == nil {
			continue
		}
		config, _ := strconv.Atoi(m[2])
		number, _ := strconv.Atoi(m[3])
		found[m[0]] = override{
			prefix: m[0], config: config, number: number,
			template:     form.Get(m[1] + "LaunchTemplateSpecification.LaunchTemplateName"),
			instanceType: form.Get(m[0] + "InstanceType"),
			zone:         form.Get(m[0] + "AvailabilityZone"),
			subnet:       form.Get(m[0] + "SubnetId"),
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b override) int {
		return cmp.Or(cmp.Compare(a.config, b.config), cmp.Compare(a.number, b.number))
	})
}

// OutOfStock simulates missing capacity, which moto can't do. Overrides for which sold returns true have no capacity. CreateFleet then
// launches another override of the request, if there is one with capacity. As in EC2, the answer has an error with the code for each
// override without capacity. Like moto, it tries overrides in the order of the request, whatever the allocation strategy is.
func (c *Cloud) OutOfStock(code string, sold func(instanceType, zone, capacityType string) bool) {
	c.Handle("CreateFleet", func(call Call, next func(Call) Answer) Answer {
		capacityType := call.Form.Get("TargetCapacitySpecification.DefaultTargetCapacityType")
		var errors strings.Builder
		left := 0
		forwarded := maps.Clone(call.Form)
		for _, o := range overrides(call.Form) {
			if !sold(o.instanceType, o.zone, capacityType) {
				left++
				continue
			}
			for key := range forwarded {
				if strings.HasPrefix(key, o.prefix) {
					delete(forwarded, key)
				}
			}
			fmt.Fprintf(&errors, `<item><errorCode>%s</errorCode><errorMessage>We currently do not have sufficient %s capacity in the Availability Zone you requested (%s).</errorMessage>`+
				`<lifecycle>%s</lifecycle><launchTemplateAndOverrides><launchTemplateSpecification><launchTemplateName>%s</launchTemplateName></launchTemplateSpecification>`+
				`<overrides><instanceType>%s</instanceType><availabilityZone>%s</availabilityZone><subnetId>%s</subnetId></overrides></launchTemplateAndOverrides></item>`,
				code, o.instanceType, o.zone, capacityType, o.template, o.instanceType, o.zone, o.subnet)
		}
		set := "<errorSet>" + errors.String() + "</errorSet>"
		if left == 0 {
			return XML("<CreateFleetResponse><requestId>injected</requestId><fleetId>fleet-0</fleetId>" + set + "<fleetInstanceSet/></CreateFleetResponse>")
		}
		call.Form = renumbered(forwarded)
		answer := next(call)
		answer.Body = []byte(strings.Replace(string(answer.Body), "</CreateFleetResponse>", set+"</CreateFleetResponse>", 1))
		return answer
	})
}

// renumbered numbers the remaining overrides of a form from 1 without gaps, as EC2's forms require. It also removes launch templates
// without overrides.
func renumbered(form url.Values) url.Values {
	templates, per := map[string]int{}, map[string]int{}
	order := overrides(form)
	out := url.Values{}
	for key, values := range form {
		if !strings.HasPrefix(key, "LaunchTemplateConfigs.") {
			out[key] = values
		}
	}
	for _, o := range order {
		config := o.prefix[:strings.Index(o.prefix, "Overrides.")]
		if templates[config] == 0 {
			templates[config] = len(templates) + 1
			for key, values := range form {
				if rest, ok := strings.CutPrefix(key, config); ok && !strings.HasPrefix(rest, "Overrides.") {
					out[fmt.Sprintf("LaunchTemplateConfigs.%d.%s", templates[config], rest)] = values
				}
			}
		}
		per[config]++
		for key, values := range form {
			if rest, ok := strings.CutPrefix(key, o.prefix); ok {
				out[fmt.Sprintf("LaunchTemplateConfigs.%d.Overrides.%d.%s", templates[config], per[config], rest)] = values
			}
		}
	}
	return out
}

// Paged divides the answers to an action that lists objects into pages of size items, because moto returns all items at once. list is the
// name of the XML element around the items: "reservationSet" for DescribeInstances.
func (c *Cloud) Paged(action, list string, size int) {
	c.Handle(action, func(call Call, next func(Call) Answer) Answer {
		page := 0
		_, _ = fmt.Sscan(call.Form.Get("NextToken"), &page)
		forwarded := maps.Clone(call.Form)
		forwarded.Del("NextToken")
		forwarded.Del("MaxResults")
		call.Form = forwarded
		answer := next(call)
		answer.Body = []byte(pageOf(string(answer.Body), list, page, size))
		return answer
	})
}

// pageOf returns the XML document with only one page of its list.
func pageOf(body, list string, page, size int) string {
	open, end := "<"+list+">", "</"+list+">"
	from, to := strings.Index(body, open), strings.LastIndex(body, end)
	if from < 0 || to < from {
		return body
	}
	items := topItems(body[from+len(open) : to])
	first, last := min(page*size, len(items)), min((page+1)*size, len(items))
	token := ""
	if last < len(items) {
		token = fmt.Sprintf("<nextToken>%d</nextToken>", page+1)
	}
	return body[:from+len(open)] + strings.Join(items[first:last], "") + end + token + body[to+len(end):]
}

var itemTag = regexp.MustCompile(`</?item>`)

// topItems splits the content of a list into its items, which may contain nested lists.
func topItems(content string) []string {
	var items []string
	depth, start := 0, 0
	for _, at := range itemTag.FindAllStringIndex(content, -1) {
		if content[at[0]+1] != '/' {
			if depth == 0 {
				start = at[0]
			}
			depth++
			continue
		}
		if depth--; depth == 0 {
			items = append(items, content[start:at[1]])
		}
	}
	return items
}
