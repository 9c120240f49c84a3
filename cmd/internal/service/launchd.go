package service

import (
	"encoding/xml"
	"fmt"
	"path/filepath"
	"strings"
)

// agent returns a launchd agent. launchd starts it when the user logs in.
func agent(s Service) (string, error) {
	var args strings.Builder
	for _, arg := range s.Argv() {
		fmt.Fprintf(&args, "\t\t<string>%s</string>\n", escape(arg))
	}
	return fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- %[1]s -->
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>%[2]s</string>
	<key>ProgramArguments</key>
	<array>
%[3]s	</array>
	<key>WorkingDirectory</key>
	<string>%[4]s</string>
	<key>EnvironmentVariables</key>
	<dict>
		<key>PATH</key>
		<string>%[5]s</string>
	</dict>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<false/>
	<key>ExitTimeOut</key>
	<integer>%[6]d</integer>
	<key>StandardOutPath</key>
	<string>%[7]s</string>
	<key>StandardErrorPath</key>
	<string>%[7]s</string>
</dict>
</plist>
`, mark, escape(s.Name), args.String(), escape(s.Dir), escape(s.Path), stopTimeout, escape(s.Log)), nil
}

// agentProject is the inverse of agent.
func agentProject(text string) string {
	d := xml.NewDecoder(strings.NewReader(text))
	for key := ""; ; {
		token, err := d.Token()
		if err != nil {
			return ""
		}
		if start, ok := token.(xml.StartElement); ok && (start.Name.Local == "key" || start.Name.Local == "string") {
			was := key
			if d.DecodeElement(&key, &start) != nil {
				return ""
			}
			if was == "WorkingDirectory" {
				return filepath.Clean(key)
			}
		}
	}
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}
