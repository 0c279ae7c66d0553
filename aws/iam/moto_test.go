package iam_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	awsiam "github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"

	"github.com/drawknife/drawknife/aws/iam"
	"github.com/drawknife/drawknife/aws/internal/mototest"
	"github.com/drawknife/drawknife/internal/moto"
)

var server moto.Server

func TestMain(m *testing.M) { os.Exit(server.Run(m)) }

// TestMoto: AWN-295, AWN-323, AWN-325. An IAM that nobody here wrote takes the documents, which it checks, and its
// EventBridge takes the rules.
func TestMoto(t *testing.T) {
	cloud := server.Start(t)
	ctx := t.Context()
	config := mototest.Config(cloud)
	config.Region = "eu-central-1"
	client := awsiam.NewFromConfig(config)
	setup := generate(t, settings(everything))
	create := func(name string, d iam.Document) error {
		_, err := client.CreatePolicy(ctx, &awsiam.CreatePolicyInput{PolicyName: &name, PolicyDocument: awssdk.String(string(d.JSON()))})
		return err
	}
	for _, p := range setup.ControllerPolicies {
		if err := create(p.Name, p.Document); err != nil {
			t.Errorf("policy %s: %v", p.Name, err)
		}
	}
	// The check is one: it refuses what is no policy.
	spoiled := setup.ControllerPolicies[0].Document
	spoiled.Statement = append([]iam.Statement{{Sid: "Spoiled", Effect: iam.Allow, Action: []string{"launch"}, Resource: []string{"*"}}}, spoiled.Statement...)
	var refused smithy.APIError
	if err := create("spoiled", spoiled); !errors.As(err, &refused) || refused.ErrorCode() != "MalformedPolicyDocument" {
		t.Errorf("a policy that is none: %v", err)
	}
	_, err := client.CreateRole(ctx, &awsiam.CreateRoleInput{RoleName: awssdk.String("demo-nodes"),
		AssumeRolePolicyDocument: awssdk.String(string(setup.NodeRole.Trust.JSON()))})
	if err != nil {
		t.Errorf("trust policy: %v", err)
	}
	_, err = sqs.NewFromConfig(config).CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &setup.Queue.Name, Attributes: setup.Queue.Attributes()})
	if err != nil {
		t.Errorf("queue: %v", err)
	}
	for _, r := range setup.Rules {
		putRule(t, cloud.URL(), r)
	}
}

// putRule calls EventBridge without its SDK, which nothing else here needs.
func putRule(t *testing.T, url string, r iam.Rule) {
	t.Helper()
	for _, c := range []struct {
		action string
		body   any
	}{
		{"PutRule", map[string]any{"Name": r.Name, "EventPattern": string(r.Pattern.JSON()), "Description": r.Description}},
		{"PutTargets", map[string]any{"Rule": r.Name, "Targets": []map[string]string{{"Id": r.TargetID, "Arn": r.TargetARN}}}},
	} {
		body, err := json.Marshal(c.body)
		if err != nil {
			t.Fatal(err)
		}
		answer := call(t, url, "events", string(body), "application/x-amz-json-1.1", map[string]string{"X-Amz-Target": "AWSEvents." + c.action})
		if c.action == "PutRule" && !strings.Contains(answer, r.Name) {
			t.Errorf("the rule is %s, want %s", answer, r.ARN)
		}
	}
}

// TestMotoStack: a CloudFormation that nobody here wrote takes the template and creates its policies, roles, queue and rules. moto
// has no access entries and no associations, and does not attach policies by ManagedPolicyArns of a role, so these are not checked.
func TestMotoStack(t *testing.T) {
	cloud := server.Start(t)
	ctx := t.Context()
	config := mototest.Config(cloud)
	config.Region = "eu-central-1"
	text, err := iam.CloudFormation(settings())
	if err != nil {
		t.Fatal(err)
	}
	client := awsiam.NewFromConfig(config)
	form := url.Values{
		"Action": {"CreateStack"}, "Version": {"2010-05-15"}, "StackName": {"demo"}, "TemplateBody": {string(text)}, "Capabilities.member.1": {"CAPABILITY_NAMED_IAM"},
	}
	call(t, cloud.URL(), "cloudformation", form.Encode(), "application/x-www-form-urlencoded", nil)
	for _, p := range generate(t, settings()).ControllerPolicies {
		if _, err := client.GetPolicy(ctx, &awsiam.GetPolicyInput{PolicyArn: awssdk.String("arn:aws:iam::123456789012:policy/" + p.Name)}); err != nil {
			t.Errorf("policy %s: %v", p.Name, err)
		}
	}
	for _, role := range []string{iam.ControllerRoleName("demo"), "demo-nodes"} {
		got, err := client.GetRole(ctx, &awsiam.GetRoleInput{RoleName: &role})
		if err != nil {
			t.Errorf("role %s: %v", role, err)
		} else if trust, err := url.QueryUnescape(*got.Role.AssumeRolePolicyDocument); err != nil || !strings.Contains(trust, "sts:AssumeRole") {
			t.Errorf("role %s trusts %s, %v", role, trust, err)
		}
	}
	if _, err := sqs.NewFromConfig(config).GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: awssdk.String("demo")}); err != nil {
		t.Errorf("queue: %v", err)
	}
	rules := call(t, cloud.URL(), "events", "{}", "application/x-amz-json-1.1", map[string]string{"X-Amz-Target": "AWSEvents.ListRules"})
	if n := strings.Count(rules, `"EventPattern"`); n != 5 {
		t.Errorf("%d rules: %s", n, rules)
	}
}

// call sends a request to a service without its SDK, which nothing else here needs.
func call(t *testing.T, to, service, body, contentType string, headers map[string]string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, to, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", contentType)
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=id/20260801/eu-central-1/"+service+"/aws4_request, SignedHeaders=host, Signature=0")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s: %s, %v", service, response.Status, answer, err)
	}
	return string(answer)
}
