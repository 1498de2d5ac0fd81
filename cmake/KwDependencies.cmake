# Third-party libraries, each by its upstream name, so that a distribution other than Debian can supply them.
# CONTRIBUTING.md says what each one is for and what it replaces.

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tl-expected REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto SSL)
find_package(CURL 7.87 REQUIRED)
find_package(OpenCLHeaders REQUIRED) # headers only: the driver is loaded with dlopen, in the worker alone
find_package(Boost 1.71 REQUIRED COMPONENTS context)
find_package(PkgConfig REQUIRED)
pkg_check_modules(CAPSTONE REQUIRED IMPORTED_TARGET capstone)
pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp)
pkg_check_modules(TOMLPLUSPLUS REQUIRED IMPORTED_TARGET tomlplusplus)
pkg_check_modules(XGBOOST REQUIRED IMPORTED_TARGET xgboost)
if(BUILD_TESTING)
  find_package(GTest REQUIRED)
endif()
if(KW_BENCH)
  find_package(benchmark REQUIRED)
endif()
