// TLS against a server with a certificate of its own making: not trusted by itself, trusted when it is named.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/testing/scratch_directory.hpp"
#include "propose/llm/client/chat_errors.hpp"
#include "propose/llm/client/curl_chat_client.hpp"
#include "propose/testing/loopback_server.hpp"

namespace kw {
namespace {

using std::chrono::seconds;

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Context = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;
using Session = std::unique_ptr<SSL, decltype(&SSL_free)>;

/// For 127.0.0.1, valid for an hour, signed by itself.
Certificate self_signed(EVP_PKEY* key) {
  Certificate certificate(X509_new(), &X509_free);
  X509* const x509 = certificate.get();
  X509_set_version(x509, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(x509), 1);
  X509_gmtime_adj(X509_getm_notBefore(x509), -60);
  X509_gmtime_adj(X509_getm_notAfter(x509), 3600);
  X509_set_pubkey(x509, key);
  X509_NAME* const name = X509_get_subject_name(x509);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("kernelwright test"), -1,
                             -1, 0);
  X509_set_issuer_name(x509, name);
  X509V3_CTX context;
  X509V3_set_ctx(&context, x509, x509, nullptr, nullptr, 0);
  for (const auto& [kind, value] :
       {std::pair{NID_subject_alt_name, "IP:127.0.0.1"}, {NID_basic_constraints, "critical,CA:TRUE"}}) {
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value);
    X509_add_ext(x509, extension, -1);
    X509_EXTENSION_free(extension);
  }
  X509_sign(x509, key, EVP_sha256());
  return certificate;
}

class CurlChatClientTls : public testing::Test {
 protected:
  void SetUp() override {
    std::signal(SIGPIPE, SIG_IGN);  // the TLS library writes without MSG_NOSIGNAL
    certificate_ = self_signed(key_.get());
    ASSERT_EQ(SSL_CTX_use_certificate(context_.get(), certificate_.get()), 1);
    ASSERT_EQ(SSL_CTX_use_PrivateKey(context_.get(), key_.get()), 1);
    FILE* const file = std::fopen(ca_file().c_str(), "w");
    ASSERT_NE(file, nullptr);
    PEM_write_X509(file, certificate_.get());
    std::fclose(file);
  }
  [[nodiscard]] std::string ca_file() const { return folder_.path() / "ca.pem"; }

  void serve(LoopbackConnection& connection) {
    const Session session(SSL_new(context_.get()), &SSL_free);
    SSL_set_fd(session.get(), connection.fd());
    if (SSL_accept(session.get()) != 1) return;
    std::string request(65536, '\0');
    if (SSL_read(session.get(), request.data(), static_cast<int>(request.size())) <= 0) return;
    const std::string answer = http_answer(200, "application/json",
                                           R"({"choices":[{"message":{"content":"kernel"},"finish_reason":"stop"}]})");
    SSL_write(session.get(), answer.data(), static_cast<int>(answer.size()));
  }
  Result<ChatReply> ask(int port, const std::string& trusted, Duration connect_timeout = seconds(15)) {
    const SteadyClock clock;
    ClientOptions options{*make_provider("custom", fmt::format("https://127.0.0.1:{}/v1", port))};
    options.key = *ApiKey::make("sk-test-0123456789", "test");
    options.ca_file = trusted;
    options.timeouts.connect = connect_timeout;
    options.retry.most = 0;
    const auto client = make_curl_chat_client(std::move(options), clock);
    return (*client)->complete({"m-1", {{ChatRole::user, "kernel?"}}, {}, {}}, {clock.now() + seconds(20), nullptr});
  }

  Key key_{EVP_RSA_gen(2048), &EVP_PKEY_free};
  Certificate certificate_{nullptr, &X509_free};
  Context context_{SSL_CTX_new(TLS_server_method()), &SSL_CTX_free};
  ScratchDirectory folder_;
};

TEST_F(CurlChatClientTls, trusts_no_certificate_that_signed_itself) {
  const LoopbackServer server([&](LoopbackConnection& connection, int) { serve(connection); });
  const auto reply = ask(server.port(), "");
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, errc::chat_connection);
  EXPECT_THAT(reply.error().message, testing::StartsWith("the server's certificate is not trusted: "));
  EXPECT_THAT(reply.error().hint, testing::HasSubstr("CURL_CA_BUNDLE"));
}

TEST_F(CurlChatClientTls, trusts_the_certificate_that_it_is_given) {
  const LoopbackServer server([&](LoopbackConnection& connection, int) { serve(connection); });
  const auto reply = ask(server.port(), ca_file());
  ASSERT_TRUE(reply) << reply.error().to_string();
  EXPECT_EQ(reply->text, "kernel");
}

TEST_F(CurlChatClientTls, takes_the_trusted_certificate_from_the_environment) {
  const LoopbackServer server([&](LoopbackConnection& connection, int) { serve(connection); });
  for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    ::setenv(name, ca_file().c_str(), 1);
    const auto reply = ask(server.port(), "");
    ::unsetenv(name);
    EXPECT_TRUE(reply) << name << ": " << reply.error().to_string();
  }
}

TEST_F(CurlChatClientTls, ends_a_handshake_that_stalls) {
  const LoopbackServer server([](LoopbackConnection& connection, int) { connection.wait_for_client_to_leave(); });
  const auto reply = ask(server.port(), "", std::chrono::milliseconds(200));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, errc::chat_timeout);
  EXPECT_THAT(reply.error().message, testing::StartsWith("no connection within the connect timeout: "));
}

TEST_F(CurlChatClientTls, says_that_a_plain_port_speaks_no_tls) {
  const LoopbackServer server([](LoopbackConnection& connection, int) {
    connection.read_request();
    connection.send(http_answer(400, "text/plain", "this is http"));
  });
  const auto reply = ask(server.port(), "");
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, errc::chat_connection);
  EXPECT_THAT(reply.error().message, testing::StartsWith("no TLS connection: "));
}

}  // namespace
}  // namespace kw
