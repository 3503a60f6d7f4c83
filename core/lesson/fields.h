#pragma once

#include "core/lesson/parse.h"

#include <yaml-cpp/yaml.h>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headscope::lesson {

/// The entries of a YAML map, read by name. An entry that is missing, unknown or of the wrong type becomes an
/// error with its line. Include this header only in sources, because it includes the YAML library.
class Fields {
public:
    /// `what` names the map in messages: "the gate".
    Fields(YAML::Node map, std::string what, int first_line, std::vector<LessonError>& faults);
    /// Parses the text. A text that is not a map is an error and gives empty fields.
    static Fields parse(std::string_view text, const std::string& what, int first_line,
                        std::vector<LessonError>& faults);

    std::optional<std::string> text(const std::string& key);
    std::string required_text(const std::string& key);
    std::optional<double> number(const std::string& key);
    std::optional<std::int64_t> integer(const std::string& key);
    std::optional<bool> flag(const std::string& key);
    /// A word that must be one of the choices.
    std::optional<std::string> word(const std::string& key, const std::vector<std::string>& choices);
    /// A list of texts; a single text counts as a list of one.
    std::vector<std::string> texts(const std::string& key);
    /// A list of integers; a single number counts as a list of one.
    std::vector<std::int64_t> integers(const std::string& key);
    /// A nested map; empty fields if the entry is missing.
    std::optional<Fields> map(const std::string& key);
    /// A list of maps.
    std::vector<Fields> maps(const std::string& key);
    /// The pairs of a map with arbitrary keys.
    std::vector<std::pair<std::string, double>> numbers_by_name(const std::string& key);

    /// Calls `call` with the entry's text and turns a thrown Error into an error at the entry's line.
    void use(const std::string& key, const std::function<void(const std::string&)>& call);
    void use_all(const std::string& key, const std::function<void(const std::string&)>& call);

    int line(const std::string& key) const;
    int line() const { return first_line_ + own_line_; }
    void fault(const std::string& key, const std::string& sentence);
    /// Adds an error for every entry that was not read. Call last.
    void report_unknown_entries();

private:
    YAML::Node entry(const std::string& key);

    YAML::Node map_;
    std::string what_;
    int first_line_ = 0, own_line_ = 0;
    std::vector<LessonError>* faults_;
    std::set<std::string> asked_;
};

} // namespace headscope::lesson
