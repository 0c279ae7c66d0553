package gate

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/drawknife/drawknife/internal/version"
)

// documentation is the address of the page about policies.
const documentation = "https://github.com/drawknife/drawknife/blob/main/docs/gate.md"

// maxResults is the maximum number of listed workloads of one rule in SARIF and JUnit. Code scanning accepts at most 5,000 results.
const maxResults = 200

// Location is a line of a file. The zero value means that the location is not known.
type Location struct {
	File string
	// Line is the number of the line, from 1.
	Line int
}

// Locate returns where a workload is declared, and false if that is not known.
type Locate func(Object) (Location, bool)

// The types below are the part of SARIF 2.1.0 that is written.
type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool        sarifTool         `json:"tool"`
	Invocations []sarifInvocation `json:"invocations"`
	ColumnKind  string            `json:"columnKind"`
	Results     []sarifResult     `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name           string      `json:"name"`
	InformationURI string      `json:"informationUri"`
	Version        string      `json:"version"`
	Rules          []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID                   string             `json:"id"`
	Name                 string             `json:"name"`
	ShortDescription     sarifText          `json:"shortDescription"`
	FullDescription      sarifText          `json:"fullDescription"`
	HelpURI              string             `json:"helpUri"`
	DefaultConfiguration sarifConfiguration `json:"defaultConfiguration"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifConfiguration struct {
	Level Level `json:"level"`
}

type sarifInvocation struct {
	ExecutionSuccessful bool `json:"executionSuccessful"`
	ExitCode            int  `json:"exitCode"`
}

type sarifResult struct {
	RuleID              string            `json:"ruleId"`
	RuleIndex           int               `json:"ruleIndex"`
	Level               Level             `json:"level"`
	Message             sarifText         `json:"message"`
	Locations           []sarifLocation   `json:"locations"`
	PartialFingerprints map[string]string `json:"partialFingerprints"`
}

type sarifLocation struct {
	PhysicalLocation sarifPhysicalLocation `json:"physicalLocation"`
}

type sarifPhysicalLocation struct {
	ArtifactLocation sarifArtifact `json:"artifactLocation"`
	Region           sarifRegion   `json:"region"`
}

type sarifArtifact struct {
	URI       string `json:"uri"`
	URIBaseID string `json:"uriBaseId,omitempty"`
}

type sarifRegion struct {
	StartLine int `json:"startLine"`
}

// WriteSARIF writes the broken rules as SARIF 2.1.0. A rule about workloads has one result for each workload, at the line that declares it.
// If that line is not known, the result is at the rule in the policy.
func (r *Report) WriteSARIF(w io.Writer, locate Locate) error {
	release, _ := version.Build()
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{Name: "drawknife", InformationURI: documentation, Version: release, Rules: []sarifRule{}}},
		Invocations: []sarifInvocation{{ExecutionSuccessful: true, ExitCode: r.Status()}},
		ColumnKind:  "utf16CodeUnits", Results: []sarifResult{},
	}
	for i := range r.Results {
		result := &r.Results[i]
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
			ID: "drawknife/" + result.Rule, Name: strings.ToUpper(result.Rule[:1]) + result.Rule[1:],
			ShortDescription: sarifText{"Limits " + result.About + "."}, FullDescription: sarifText{"Limits " + result.About + ". The limits are in the policy " + r.File + "."},
			HelpURI: documentation + "#" + strings.ToLower(result.Rule), DefaultConfiguration: sarifConfiguration{result.Level},
		})
		if result.Broken {
			run.Results = append(run.Results, r.sarifResults(result, i, locate)...)
		}
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

// sarifResults returns the results of one broken rule.
func (r *Report) sarifResults(result *Result, index int, locate Locate) []sarifResult {
	policy := Location{r.File, max(result.Line, 1)}
	one := func(text, identity string, at Location) sarifResult {
		return sarifResult{
			RuleID: "drawknife/" + result.Rule, RuleIndex: index, Level: result.Level, Message: sarifText{text},
			Locations:           []sarifLocation{{sarifPhysicalLocation{artifact(at.File), sarifRegion{max(at.Line, 1)}}}},
			PartialFingerprints: map[string]string{"drawknifeRule/v1": identity},
		}
	}
	list := []sarifResult{one(upperFirst(result.Sentence())+".", result.Rule, policy)}
	for i, o := range result.Objects {
		if i == maxResults {
			list = append(list, one(fmt.Sprintf("%d more workloads count for %s.", len(result.Objects)-i, result.Rule), result.Rule+"/more", policy))
			break
		}
		at, ok := Location{}, false
		if locate != nil {
			at, ok = locate(o)
		}
		if !ok {
			at = policy
		}
		list = append(list, one(objectSentence(result.Rule, o), result.Rule+"/"+o.String(), at))
	}
	return list
}

// objectSentence returns a sentence that says why a rule counts a workload.
func objectSentence(rule string, o Object) string {
	text := fmt.Sprintf("%s counts for %s with %s", o, rule, pods.format(float64(o.Pods)))
	if o.Detail != "" {
		text += ": " + o.Detail
	}
	return text + "."
}

func upperFirst(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// artifact returns the URI of a file: relative to the root of the sources if the path is relative and below the working directory.
func artifact(file string) sarifArtifact {
	clean := filepath.ToSlash(filepath.Clean(file))
	if filepath.IsAbs(file) {
		u := url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(clean, "/")}
		return sarifArtifact{URI: u.String()}
	}
	u := url.URL{Path: clean}
	text := strings.TrimPrefix(u.String(), "./")
	if strings.HasPrefix(clean, "../") {
		return sarifArtifact{URI: text}
	}
	return sarifArtifact{URI: text, URIBaseID: "%SRCROOT%"}
}
