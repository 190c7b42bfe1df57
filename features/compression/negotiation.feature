Feature: Negotiating compression
  The client lists the algorithms that it supports, the preferred one first. The broker selects the first that it supports too.

  @COMPRESS-009 @COMPRESS-019
  Scenario Outline: A client that offers <offered>
    Given the client is connected and offers "<offered>"
    Then the client and the broker agree on "<agreed>"

    Examples:
      | offered             | agreed |
      | brotli,gzip         | brotli |
      | gzip,brotli         | gzip   |
      | gzip                | gzip   |
      | brotli              | brotli |

  @COMPRESS-012 @COMPRESS-013
  Scenario Outline: Case does not matter, and unknown names are skipped: <offered>
    Given the client is connected and offers "<offered>"
    Then the client and the broker agree on "<agreed>"

    Examples:
      | offered             | agreed |
      | GZip                | gzip   |
      | BROTLI, gzip        | brotli |
      | zstd,lz4,gzip       | gzip   |

  @COMPRESS-010
  Scenario: A client that offers nothing
    Given the client is connected
    Then the client and the broker agree on no compression

  @COMPRESS-011
  Scenario: A client that offers only what the broker does not know
    Given the client is connected and offers "zstd,lz4"
    Then the client and the broker agree on no compression

  @COMPRESS-009 @COMPRESS-011
  Scenario: A broker that is configured for gzip only
    Given a broker with these settings:
      | supportedCompressions | gzip |
    And client A is connected and offers "brotli,gzip"
    And client B is connected and offers "brotli"
    Then client A and the broker agree on "gzip"
    And client B and the broker agree on no compression
