#pragma once

#include <cstdlib>
#include <string>

namespace headscope::test {

/// Sets an environment variable while the object exists; null: unsets it.
class Environment {
public:
    Environment(const char* name, const char* value) : name_(name) {
        if (const char* const before = std::getenv(name); before != nullptr)
            before_ = before, was_set_ = true;
        value == nullptr ? unsetenv(name) : setenv(name, value, 1);
    }
    ~Environment() { was_set_ ? setenv(name_, before_.c_str(), 1) : unsetenv(name_); }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

private:
    const char* name_;
    std::string before_;
    bool was_set_ = false;
};

} // namespace headscope::test
