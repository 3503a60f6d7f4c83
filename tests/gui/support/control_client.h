#pragma once

#include "app/shell/control/control.h"
#include "core/base/json.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace headscope::test {

/// A client of the control socket, without the socket. Remembers the requests that were accepted.
struct ControlClient {
    User& user;
    std::set<std::string>& accepted;

    nlohmann::json ask(const std::string& id, const nlohmann::json& value = nullptr) {
        nlohmann::json line{{"id", 1}, {"action", id}};
        if (!value.is_null())
            line["value"] = value;
        std::optional<std::string> answer = answer_line(user.program, dump_json(line), 1);
        for (int times = 0; times < 50 && !answer; ++times) {
            user.settle();
            answer = answer_line(user.program, dump_json(line), 1);
        }
        REQUIRE(answer);
        return parse_json_with_bytes(*answer, "the answer");
    }
    /// Fails the test unless the request is accepted and nothing fails until the window is settled.
    void done(const std::string& id, const nlohmann::json& value = nullptr) {
        INFO(id << " " << value.dump());
        const nlohmann::json answer = ask(id, value);
        INFO(answer.dump());
        CHECK(answer.at("ok") == true);
        accepted.insert(id);
        user.settle();
        CHECK(ask("settle").value("error", "") == "");
    }
    /// Returns the sentence with which the request is refused.
    std::string refused(const std::string& id, const nlohmann::json& value = nullptr) {
        INFO(id << " " << value.dump());
        const nlohmann::json answer = ask(id, value);
        CHECK(answer.at("ok") == false);
        return answer.value("error", "");
    }
    nlohmann::json report() {
        user.settle();
        return ask("report").at("report");
    }
};

} // namespace headscope::test
