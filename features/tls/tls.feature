@over-tcp
Feature: TLS
  A broker with a certificate serves its clients over TLS, and nobody without it. The frames inside are the same.

  @TLS-001 @TLS-002
  Scenario Outline: A message is published and delivered over TLS
    Given a broker with a certificate
    And the publisher is connected over TLS <version>
    And the subscriber is connected over TLS <version>
    And the subscriber subscribes to queue "orders"
    When the publisher publishes message "m1" to queue "orders"
    Then message "m1" is confirmed to the publisher
    And the subscriber receives message "m1"

    Examples:
      | version |
      | 1.2     |
      | 1.3     |

  @TLS-003
  Scenario Outline: Versions before TLS 1.2 are refused
    Given a broker with a certificate
    Then the broker refuses a client that offers at most TLS <version>

    Examples:
      | version |
      | 1.0     |
      | 1.1     |

  @TLS-004
  Scenario: A client with plain TCP is not served
    Given a broker with a certificate
    Then a client with plain TCP receives no answer to its Connect, and the broker closes its connection

  @TLS-012
  Scenario: TLS can be switched off
    Given a broker with a certificate
    And a broker with these settings:
      | tlsEnabled | false |
    Then the broker serves a new connection

  @TLS-011
  Scenario: A handshake that stalls ends at handshakeTimeout and delays nobody
    Given a broker with a certificate
    And a broker with these settings:
      | handshakeTimeout | 10 s |
    And client A is connected over TLS 1.3
    When client B sends the beginning of a TLS handshake
    Then the connection of client A stays open
    When 10 s pass
    Then the broker closes the connection of client B
    And the connection of client A stays open
