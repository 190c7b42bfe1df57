@over-tcp
Feature: Certificates
  The broker checks its certificate and key before it listens, and reads them again on SIGHUP.

  @TLS-009
  Scenario: A PKCS#12 file with its password is a certificate
    Given a broker with the PKCS#12 file "server.pfx" and its password
    And the client is connected over TLS 1.3
    Then the connection of the client stays open

  @TLS-008
  Scenario: A renewed certificate is used for new connections, and open ones continue
    Given a broker with a certificate that can be replaced
    And client A is connected over TLS 1.3
    When the certificate is replaced by "renewed" and the broker receives SIGHUP
    Then new connections get the certificate "renewed"
    And the connection of client A stays open

  @TLS-008
  Scenario: A certificate that cannot be used does not replace the old one
    Given a broker with a certificate that can be replaced
    When the certificate is replaced by "expired" and the broker receives SIGHUP
    Then the log says that a certificate was not reloaded, because "it expired on 2021-01-01"
    And new connections get the certificate "server"

  @TLS-005 @TLS-006 @TLS-007 @TLS-013
  Scenario Outline: A broker does not start with files that it cannot use, and says why
    When a broker is started with these settings:
      | tlsCertificatePath     | <certificate> |
      | tlsKeyPath             | <key>         |
      | tlsCertificatePassword | <password>    |
    Then it does not start, because "<reason>"

    Examples: Files
      | certificate   | key                  | password | reason                                                                                   |
      | absent.crt    | server.key           |          | cannot use absent.crt for TLS: there is no such file                                     |
      | server.crt    | absent.key           |          | cannot use absent.key for TLS: there is no such file                                     |
      | server.der    |                      |          | cannot use server.der for TLS: it is neither PEM nor PKCS#12                             |
      | server.crt    |                      |          | cannot use server.crt for TLS: it has no private key in PEM                              |
      | server.crt    | renewed.key          |          | cannot use server.crt for TLS: the key renewed.key does not belong to                    |
      | server.crt    | server-encrypted.key |          | cannot use server-encrypted.key for TLS: its key needs a password                        |
      | server.pfx    |                      | sesame   | cannot use server.pfx for TLS: the password of --tls-certificate-password does not open  |
      | expired.crt   | expired.key          |          | cannot use expired.crt for TLS: it expired on 2021-01-01                                 |

    Examples: Settings
      | certificate | key        | password | reason                                              |
      |             | server.key |          | tlsCertificatePath none (default) and tlsKeyPath    |
